package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

var (
	helpArm    = regexp.MustCompile(`"([a-z_]+)"(?: \| "([a-z_]+)")? => "`)
	named      = regexp.MustCompile(`\(\s*"([a-z_]+)",\s*"[^"]+",`)
	whole      = regexp.MustCompile(`"(recrawl_[a-z_]+)(\{end\})?"`)
	ends       = regexp.MustCompile(`\("(_[a-z]+)?",`)
	durations  = regexp.MustCompile(`"([a-z]+)" => "time `)
	usedSeries = regexp.MustCompile(`\brecrawl[_:][a-z_:]+`)
	nameRegexp = regexp.MustCompile(`__name__=~"(recrawl_)\(([a-z|]+)\)(_[a-z_]+)"`)
)

// exportedSeries are the series that the programs export, by the table of crates/daemon/src/metrics.rs. A figure of a stage
// counts if the stage or its pure half names it.
func exportedSeries(files filesys.FileSystem, repository string) (map[string]bool, error) {
	read := func(parts ...string) (string, error) {
		text, err := files.ReadFile(filepath.Join(append([]string{repository}, parts...)...))
		return string(text), err
	}
	table, err := read("crates", "daemon", "src", "metrics.rs")
	if err != nil {
		return nil, err
	}
	table, _, _ = strings.Cut(table, "#[cfg(test)]\nmod tests")
	perStage, figures, found := strings.Cut(table, "fn help_of")
	if !found {
		return nil, fmt.Errorf("crates/daemon/src/metrics.rs: no help_of; the check of series reads it")
	}
	series := map[string]bool{}
	addCounterOrGauge := func(name string) { series[name], series[name+"_total"] = true, true }
	for _, match := range whole.FindAllStringSubmatch(perStage, -1) {
		if match[2] == "" {
			addCounterOrGauge(match[1])
			continue
		}
		for _, end := range ends.FindAllStringSubmatch(perStage, -1) {
			series[match[1]+end[1]] = true
		}
	}
	begin, end := strings.Index(perStage, "fn encode_stage"), strings.Index(perStage, "fn encode_durations")
	if begin < 0 || end < begin {
		return nil, fmt.Errorf("crates/daemon/src/metrics.rs: no encode_stage before encode_durations; the check of series reads them")
	}
	gauges, counters, _ := strings.Cut(perStage[begin:end], "let counters")
	for _, stage := range stages {
		prefix := "recrawl_" + stage + "_"
		for _, match := range named.FindAllStringSubmatch(gauges, -1) {
			series[prefix+match[1]] = true
		}
		for _, match := range named.FindAllStringSubmatch(counters, -1) {
			series[prefix+match[1]+"_total"] = true
		}
		for _, match := range durations.FindAllStringSubmatch(counters, -1) {
			if match[1] != "fetch" || stage == "fetcher" {
				for _, part := range []string{"_seconds_bucket", "_seconds_sum", "_seconds_count"} {
					series[prefix+match[1]+part] = true
				}
			}
		}
		source, err := sourceOf(files, repository, stage)
		if err != nil {
			return nil, err
		}
		for _, match := range helpArm.FindAllStringSubmatch(figures, -1) {
			for _, figure := range match[1:] {
				if figure != "" && strings.Contains(source, `"`+figure+`"`) {
					series[prefix+figure] = true
				}
			}
		}
	}
	return series, nil
}

// sourceOf is the text that names the figures of a stage.
func sourceOf(files filesys.FileSystem, repository, stage string) (string, error) {
	roots := []string{filepath.Join(repository, "services", stage, "src")}
	if stage == "scheduler" {
		roots = append(roots, filepath.Join(repository, "crates", "frontier", "src"))
	}
	var source strings.Builder
	for _, root := range roots {
		err := files.Walk(root, func(path string, info osFileInfo, err error) error {
			if err != nil || info.IsDir() || filepath.Ext(path) != ".rs" {
				return err
			}
			text, err := files.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return source.String(), nil
}

// unknownSeries are the series of an expression that nobody exports or records.
func unknownSeries(expression string, known map[string]bool) (unknown []string) {
	for _, match := range nameRegexp.FindAllStringSubmatch(expression, -1) {
		for _, stage := range strings.Split(match[2], "|") {
			expression += " " + match[1] + stage + match[3]
		}
	}
	expression = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expression, `""`)
	for _, name := range usedSeries.FindAllString(expression, -1) {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
