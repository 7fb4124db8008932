//go:build tools

// The program that ./build builds.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
