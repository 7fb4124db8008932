package main

import (
	"os"
	"strings"
	"testing"
)

func TestWhatGrafanaWouldNotUnderstandIsFound(t *testing.T) {
	const path = "../../../k8s/components/monitoring/dashboards/recrawl-loop.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][3]string{
		{`"gridPos": {"x"`, `"gridPos": {"left"`, "left"},
		{`"defaults": {"unit": "short"`, `"defaults": {"units": "short"`, "units"},
		{`"legendFormat": "`, `"legend": "`, "legend"},
		{`"uid": "recrawl-loop"`, `"uid": 7`, "uid"},
		{`"type": "timeseries",`, `"type": "timeseries", "options": {"tooltip": {"hide": true}},`, "hide"},
	} {
		changed := strings.Replace(string(text), wrong[0], wrong[1], 1)
		if changed == string(text) {
			t.Errorf("%s is not in the dashboard", wrong[0])
			continue
		}
		if err := check([]byte(changed)); err == nil || !strings.Contains(err.Error(), wrong[2]) {
			t.Errorf("%s: %v", wrong[1], err)
		}
	}
	if err := check(text); err != nil {
		t.Error(err)
	}
}
