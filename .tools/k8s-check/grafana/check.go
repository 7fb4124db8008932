// Reads dashboards by the types of Grafana and writes them again. A field that Grafana does not know is lost on the way, and a
// value of the wrong type is an error. Its strict reading is not used: it takes every panel for wrong and does not say why.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	failed := false
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err == nil {
			err = check(text)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "error: %s: %v\n", path, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

func check(text []byte) error {
	plugins.RegisterDefaultPlugins()
	var board dashboard.Dashboard
	if err := json.Unmarshal(text, &board); err != nil {
		return err
	}
	written, err := json.Marshal(board)
	if err != nil {
		return err
	}
	var before, after interface{}
	if err := errors.Join(json.Unmarshal(text, &before), json.Unmarshal(written, &after)); err != nil {
		return err
	}
	return kept("dashboard", before, after)
}

// kept says which value of one document is not in another.
func kept(path string, before, after interface{}) error {
	switch before := before.(type) {
	case map[string]interface{}:
		after, _ := after.(map[string]interface{})
		for key, value := range before {
			if err := kept(path+"."+key, value, after[key]); err != nil {
				return err
			}
		}
		return nil
	case []interface{}:
		after, _ := after.([]interface{})
		if len(before) != len(after) {
			return fmt.Errorf("%s: Grafana keeps %d of %d elements", path, len(after), len(before))
		}
		for index, value := range before {
			if err := kept(fmt.Sprintf("%s[%d]", path, index), value, after[index]); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("%s: Grafana reads %v as %v", path, before, after)
	}
	return nil
}
