package main

import core "k8s.io/api/core/v1"

// The pods that serve the console. No overlay has them by default.
const console = "recrawl-console"

func (w workload) isConsole() bool { return w.name == "Deployment "+console }

// isExtra says whether a workload is of a component that no overlay has by default.
func (w workload) isExtra() bool { return w.isDelivery() || w.isConsole() }

// console: keys, and the secret by which the pods know each other's forms, are files of a Secret, and the port has TLS or only a
// proxy before it: otherwise the program ends (require_lock in services/recrawl/src/embedded.rs).
func (r *rules) console(w workload, c core.Container) {
	words := append(append([]string{}, c.Command...), c.Args...)
	r.require(len(words) > 1 && words[0] == "recrawl" && words[1] == "console", "%s: does not run recrawl console", w.name)
	values := map[string]string{}
	for _, variable := range c.Env {
		values[variable.Name] = variable.Value
	}
	for _, name := range []string{"RECRAWL_HTTP_KEYS_FILE", "RECRAWL_HTTP_FORMS_KEY_FILE"} {
		r.require(inSecret(w, c, values[name]), "%s: %s is no file of a Secret that must be there", w.name, name)
	}
	isLocked := values["RECRAWL_HTTP_BEHIND_PROXY"] == "true" || inSecret(w, c, values["RECRAWL_HTTP_TLS_KEY"])
	r.require(isLocked, "%s: has neither TLS nor a proxy before it, and would end at once", w.name)
}
