package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/loader"
	"github.com/compose-spec/compose-go/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// composition is compose.yaml, and what is wrong with it.
type composition struct {
	files      filesys.FileSystem
	repository string
	services   map[string]types.ServiceConfig
	faults     []string
}

func (c *composition) require(holds bool, format string, arguments ...interface{}) {
	if !holds {
		c.faults = append(c.faults, "compose.yaml: "+fmt.Sprintf(format, arguments...))
	}
}

// checkCompose reads compose.yaml as `docker compose` does, and then looks at what that cannot know: our program, the files
// that are mounted, and whether Prometheus and Grafana find each other and the stages. That the commands run, with the
// settings and the environment that stand there, is tested by tests/distributed.
func checkCompose(files filesys.FileSystem, repository string, stages []string) []string {
	c := &composition{files, repository, map[string]types.ServiceConfig{}, nil}
	project, err := loadCompose(files, repository)
	if err != nil {
		return []string{"compose.yaml: " + err.Error()}
	}
	for _, service := range project.Services {
		c.services[service.Name] = service
	}
	version := regexp.MustCompile(`(?m)^version = "(.*)"$`).FindStringSubmatch(c.text("Cargo.toml"))
	c.require(version != nil, "Cargo.toml has no version")
	run := map[string]bool{}
	for _, service := range project.Services {
		image, tag, _ := strings.Cut(service.Image, ":")
		c.require(tag != "" && tag != "latest", "%s: image %q has no version", service.Name, service.Image)
		c.mounts(service)
		for other, dependency := range service.DependsOn {
			check := c.services[other].HealthCheck
			healthy := check != nil && !check.Disable
			c.require(dependency.Condition != types.ServiceConditionHealthy || healthy, "%s: waits for the health of %s, which nothing checks", service.Name, other)
		}
		if image != "recrawl" {
			continue
		}
		c.require(version == nil || tag == version[1], "%s: image %q is of another version than Cargo.toml", service.Name, service.Image)
		c.program(service)
		run[stageOf(service.Command)] = true
	}
	for _, stage := range stages {
		c.require(run[stage], "no service runs the stage %s", stage)
	}
	c.prometheus()
	c.grafana()
	return c.faults
}

func loadCompose(files filesys.FileSystem, repository string) (*types.Project, error) {
	text, err := files.ReadFile(filepath.Join(repository, "compose.yaml"))
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return nil, err
	}
	details := types.ConfigDetails{WorkingDir: root, ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: text}}}
	return loader.Load(details, func(options *loader.Options) {
		options.SetProjectName("recrawl", false)
		options.Profiles = []string{"*"}
	})
}

// program: one of ours, which may write nothing but its volume, and reads settings that are there.
func (c *composition) program(service types.ServiceConfig) {
	name := service.Name
	c.require(len(service.Command) > 0 && service.Command[0] == "recrawl", "%s: command %v is not recrawl", name, service.Command)
	if build := service.Build; build != nil {
		c.require(c.files.Exists(filepath.Join(build.Context, build.Dockerfile)), "%s: %s does not exist", name, build.Dockerfile)
	}
	stage := stageOf(service.Command) != ""
	disabled := service.HealthCheck != nil && service.HealthCheck.Disable
	// A delivery shows its health as stages do.
	serves := stage || contains(service.Command, "--serve")
	c.require(serves != disabled, "%s: the image's health check is for stages and a delivery, and only for them", name)
	for _, word := range service.Command {
		c.require(!strings.Contains(word, "://"), "%s: an address is among the words of its command", name)
	}
	for variable, value := range service.Environment {
		at := map[string]string{"RECRAWL_CONFIG": types.VolumeTypeBind, "RECRAWL_CRAWL_DATA": types.VolumeTypeVolume}[variable]
		mounted := false
		for _, mount := range service.Volumes {
			mounted = mounted || (value != nil && mount.Target == *value && mount.Type == at && mount.ReadOnly == (at == types.VolumeTypeBind))
		}
		c.require(at == "" || mounted, "%s: %s is at no mount", name, variable)
	}
	c.require(service.Environment["RECRAWL_CONFIG"] != nil, "%s: no RECRAWL_CONFIG", name)
	// With it, a command would read that directory instead of Kafka.
	c.require(stage == (service.Environment["RECRAWL_CRAWL_DATA"] != nil), "%s: RECRAWL_CRAWL_DATA is for stages, and only for them", name)
	c.require(!serves || service.ReadOnly, "%s: the root file system is not read-only", name)
}

func (c *composition) mounts(service types.ServiceConfig) {
	for _, mount := range service.Volumes {
		bound := mount.Type == types.VolumeTypeBind
		c.require(strings.HasPrefix(mount.Target, "/"), "%s: %q is mounted nowhere", service.Name, mount.Source)
		c.require(!bound || c.files.Exists(mount.Source), "%s: %s does not exist", service.Name, mount.Source)
		c.require(!bound || mount.ReadOnly, "%s: may write to %s", service.Name, mount.Source)
	}
}

// source of what a service finds at a path, "" if nothing is mounted there.
func (c *composition) source(service, target string) string {
	for _, mount := range c.services[service].Volumes {
		if mount.Target == target {
			return mount.Source
		}
	}
	c.require(false, "%s: nothing is mounted at %s", service, target)
	return ""
}

func (c *composition) text(path ...string) string {
	file := filepath.Join(path...)
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.repository, file)
	}
	text, err := c.files.ReadFile(file)
	c.require(err == nil, "%v", err)
	return string(text)
}

// read decodes a file that a service finds at a path.
func (c *composition) read(service, target string, into interface{}) {
	if source := c.source(service, target); source != "" {
		err := yaml.UnmarshalStrict([]byte(c.text(source)), into)
		c.require(err == nil, "%s: %v", target, err)
	}
}

// prometheus: asks every container of a stage, at the port that the stage answers to, and finds its rules.
func (c *composition) prometheus() {
	const config = "/etc/prometheus/prometheus.yml"
	var written struct {
		Global        interface{}
		RuleFiles     []string `json:"rule_files"`
		ScrapeConfigs []struct {
			JobName string `json:"job_name"`
			DNS     []struct {
				Names []string
				Type  string
				Port  int
			} `json:"dns_sd_configs"`
			Relabel []struct {
				Sources []string `json:"source_labels"`
				Target  string   `json:"target_label"`
			} `json:"relabel_configs"`
		} `json:"scrape_configs"`
	}
	c.read("prometheus", config, &written)
	for _, file := range written.RuleFiles {
		c.source("prometheus", file)
	}
	settings := c.text("compose", "recrawl.toml")
	bind := regexp.MustCompile(`(?m)^bind = "0\.0\.0\.0:(\d+)"$`).FindStringSubmatch(settings)
	c.require(bind != nil, "compose/recrawl.toml: other containers do not reach a stage")
	targets := map[string]bool{}
	for _, job := range written.ScrapeConfigs {
		for _, group := range job.DNS {
			// All containers of a service have its name.
			for _, host := range group.Names {
				_, service := c.services[host]
				listens := service && group.Type == "A" && bind != nil && strconv.Itoa(group.Port) == bind[1]
				c.require(listens, "%s: no stage listens at %s:%d", config, host, group.Port)
				targets[host] = true
			}
		}
	}
	for name, service := range c.services {
		if stageOf(service.Command) != "" || contains(service.Command, "--serve") {
			c.require(targets[name], "%s: does not ask %s", config, name)
		}
	}
	asked := bind != nil && strings.Contains(c.text("k8s", "Dockerfile"), `"127.0.0.1:`+bind[1]+`"`)
	c.require(asked, "the image's health check asks another port than compose/recrawl.toml opens")
	c.readByPrometheus(config, written.RuleFiles)
}

// readByPrometheus lets Prometheus itself read its settings and rules, at the paths of this machine.
func (c *composition) readByPrometheus(config string, rules []string) {
	if skipPromtool || len(c.faults) > 0 {
		return
	}
	work, err := os.MkdirTemp("", "k8s-check")
	if err != nil {
		c.require(false, "%v", err)
		return
	}
	defer os.RemoveAll(work)
	text := c.text(c.source("prometheus", config))
	for i, file := range rules {
		copied := filepath.Join(work, fmt.Sprintf("rules-%d.yaml", i))
		text = strings.ReplaceAll(text, file, copied)
		err := os.WriteFile(copied, []byte(c.text(c.source("prometheus", file))), 0o600)
		c.require(err == nil, "%v", err)
	}
	copied := filepath.Join(work, "prometheus.yaml")
	err = os.WriteFile(copied, []byte(text), 0o600)
	c.require(err == nil, "%v", err)
	said, err := exec.Command("promtool", "check", "config", copied).CombinedOutput()
	c.require(err == nil, "promtool check config: %v\n%s", err, said)
}

// grafana: its data source is the service prometheus, and the directory of its dashboards has some.
func (c *composition) grafana() {
	const provisioning = "/etc/grafana/provisioning/"
	var sources struct {
		APIVersion  int
		Datasources []struct {
			Name, Type, UID, URL string
			IsDefault            bool
		}
	}
	c.read("grafana", provisioning+"datasources/recrawl.yaml", &sources)
	c.require(len(sources.Datasources) == 1, "grafana: not one data source")
	for _, source := range sources.Datasources {
		c.require(source.Type == "prometheus" && source.IsDefault && source.URL == "http://prometheus:9090", "grafana: the data source is not prometheus:9090")
	}
	var providers struct {
		APIVersion int
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	c.read("grafana", provisioning+"dashboards/recrawl.yaml", &providers)
	c.require(len(providers.Providers) > 0, "grafana: no dashboards")
	for _, provider := range providers.Providers {
		boards, err := c.files.Glob(filepath.Join(c.source("grafana", provider.Options.Path), "*.json"))
		c.require(err == nil && len(boards) > 0, "grafana: no dashboards at %s", provider.Options.Path)
	}
}
