package main

import (
	"encoding/json"
	"io"
	"os"
	"sort"

	migparted "github.com/NVIDIA/mig-parted/api/spec/v1"
	"sigs.k8s.io/yaml"
)

// checkMigParted decodes strictly, as mig-parted does, and prints the names of the layouts.
func checkMigParted(input io.Reader) error {
	text, err := io.ReadAll(input)
	if err != nil {
		return err
	}
	var spec migparted.Spec
	if err := yaml.Unmarshal(text, &spec); err != nil {
		return err
	}
	names := []string{}
	for name := range spec.MigConfigs {
		names = append(names, name)
	}
	sort.Strings(names)
	return json.NewEncoder(os.Stdout).Encode(names)
}
