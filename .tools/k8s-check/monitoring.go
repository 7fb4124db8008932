package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

type osFileInfo = os.FileInfo

type rule struct{ alert, record, expr, runbook string }

// rulesOf are the rules of a PrometheusRule.
func rulesOf(object custom) (rules []rule) {
	groups, _ := at(object.fields, "spec", "groups").([]interface{})
	for _, group := range groups {
		entries, _ := at(group, "rules").([]interface{})
		for _, entry := range entries {
			word := func(keys ...string) string { text, _ := at(entry, keys...).(string); return text }
			rules = append(rules, rule{word("alert"), word("record"), word("expr"), word("annotations", "runbook_url")})
		}
	}
	return rules
}

// anchorsOf are the anchors of a Markdown file's headings, as GitHub makes them.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchors[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return anchors
}

// checkMonitoring checks rules, their tests, and dashboards. That programs have the series is checked by tests/architecture,
// which knows the table of metrics, and on running programs.
func checkMonitoring(files filesys.FileSystem, repository string) (faults []string) {
	fault := func(format string, arguments ...interface{}) {
		faults = append(faults, fmt.Sprintf(format, arguments...))
	}
	directory := filepath.Join(repository, "k8s", "components", "monitoring")
	text, err := files.ReadFile(filepath.Join(directory, "rules.yaml"))
	if err != nil {
		return []string{err.Error()}
	}
	object := custom{}
	if err := yaml.Unmarshal(text, &object.fields); err != nil {
		return []string{"rules.yaml: " + err.Error()}
	}
	runbook, err := files.ReadFile(filepath.Join(repository, "docs", "OPERATIONS.md"))
	if err != nil {
		return []string{err.Error()}
	}
	anchors := anchorsOf(string(runbook))
	rules := rulesOf(object)
	work, err := os.MkdirTemp("", "k8s-check")
	if err != nil {
		return []string{err.Error()}
	}
	defer os.RemoveAll(work)
	tests := writeTests(files, directory, work, &faults)
	for _, of := range rules {
		name := of.alert + of.record
		if of.alert == "" {
			continue
		}
		page, anchor, _ := strings.Cut(of.runbook, "#")
		if page != "docs/OPERATIONS.md" || !anchors[anchor] {
			fault("%s: runbook_url %q is no section of docs/OPERATIONS.md", name, of.runbook)
		}
		fires := regexp.MustCompile(`alertname: ` + of.alert + `\n\s+eval_time: .*\n\s+exp_alerts:\n`).MatchString(tests)
		silent := regexp.MustCompile(`alertname: ` + of.alert + `, eval_time: [^,]*, exp_alerts: \[\]`).MatchString(tests)
		if !fires || !silent {
			fault("%s: rules_test.yaml needs a case in which it fires and one in which it does not", name)
		}
	}
	expressions := dashboards(files, directory, &faults)
	spec, err := yaml.Marshal(object.fields["spec"])
	if err == nil {
		err = os.WriteFile(filepath.Join(work, "rules.yaml"), spec, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(work, "dashboards.yaml"), expressions, 0o600)
	}
	if err != nil {
		return append(faults, err.Error())
	}
	if skipPromtool {
		return faults
	}
	return append(faults, promtool(work)...)
}

// writeTests copies the unit tests beside the rules, and returns their text.
func writeTests(files filesys.FileSystem, directory, work string, faults *[]string) (all string) {
	paths, err := files.Glob(filepath.Join(directory, "*_test.yaml"))
	for _, path := range paths {
		var text []byte
		if text, err = files.ReadFile(path); err == nil {
			all += string(text)
			err = os.WriteFile(filepath.Join(work, filepath.Base(path)), text, 0o600)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		*faults = append(*faults, err.Error())
	}
	return all
}

// dashboards checks Grafana's JSON, and returns the expressions as a file of rules, so that promtool parses them.
func dashboards(files filesys.FileSystem, directory string, faults *[]string) []byte {
	fault := func(format string, arguments ...interface{}) {
		*faults = append(*faults, fmt.Sprintf(format, arguments...))
	}
	kustomization, err := files.ReadFile(filepath.Join(directory, "kustomization.yaml"))
	if err != nil {
		fault("%v", err)
	}
	var rules []map[string]string
	paths, err := files.Glob(filepath.Join(directory, "dashboards", "*.json"))
	if err != nil || len(paths) == 0 {
		fault("no dashboards in %s", directory)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if !strings.Contains(string(kustomization), "dashboards/"+name+"\n") {
			fault("%s: not in the kustomization", name)
		}
		var board struct {
			UID, Title string
			Panels     []struct {
				ID      int
				Title   string
				GridPos struct{ X, W int }
				Targets []struct{ RefID, Expr string }
			}
		}
		text, err := files.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &board)
		}
		if err != nil {
			fault("%s: %v", name, err)
			continue
		}
		if board.UID+".json" != name || board.Title == "" || len(board.Panels) == 0 {
			fault("%s: its uid is not its file's name, or it has no title or no panels", name)
		}
		ids := map[int]bool{}
		for _, panel := range board.Panels {
			if ids[panel.ID] || panel.Title == "" || len(panel.Targets) == 0 || panel.GridPos.X+panel.GridPos.W > 24 {
				fault("%s: panel %d %q: id used twice, no title, no expression, or wider than the page", name, panel.ID, panel.Title)
			}
			ids[panel.ID] = true
			for _, target := range panel.Targets {
				record := fmt.Sprintf("d:%s:%d:%s", strings.ReplaceAll(board.UID, "-", "_"), panel.ID, target.RefID)
				rules = append(rules, map[string]string{"record": record, "expr": target.Expr})
			}
		}
	}
	text, err := yaml.Marshal(map[string]interface{}{"groups": []interface{}{map[string]interface{}{"name": "dashboards", "rules": rules}}})
	if err != nil {
		fault("%v", err)
	}
	return text
}

// skipPromtool is set by tests of what does not need it: it takes seconds.
var skipPromtool bool

// promtool lets Prometheus itself parse all expressions and run the tests of the rules.
func promtool(work string) []string {
	if _, err := exec.LookPath("promtool"); err != nil {
		return []string{"promtool is missing: run make setup, or install Prometheus (Debian: prometheus)"}
	}
	tests, _ := filepath.Glob(filepath.Join(work, "*_test.yaml"))
	for _, arguments := range [][]string{
		{"check", "rules", filepath.Join(work, "rules.yaml"), filepath.Join(work, "dashboards.yaml")},
		append([]string{"test", "rules"}, tests...),
	} {
		if said, err := exec.Command("promtool", arguments...).CombinedOutput(); err != nil {
			return []string{fmt.Sprintf("promtool %s: %v\n%s", strings.Join(arguments[:2], " "), err, said)}
		}
	}
	return nil
}
