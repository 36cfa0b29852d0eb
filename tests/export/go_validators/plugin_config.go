package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	spec "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
	"github.com/urfave/cli/v2"
)

// newFlags declares the flags whose values the plugin merges into the file's.
func newFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config-file"},
		&cli.StringFlag{Name: "mig-strategy", Value: spec.MigStrategyNone},
		&cli.BoolFlag{Name: "fail-on-init-error", Value: true},
		&cli.StringFlag{Name: "mps-root", EnvVars: []string{"MPS_ROOT"}},
	}
}

type summary struct {
	Version     string                       `json:"version"`
	MigStrategy string                       `json:"migStrategy"`
	FailOnInit  bool                         `json:"failOnInitError"`
	Strategy    spec.SharingStrategy         `json:"strategy"`
	Sharing     *spec.ReplicatedResources    `json:"sharing"`
	PluginFlags *spec.PluginCommandLineFlags `json:"pluginFlags"`
}

// migError repeats the check of the plugin's validateFlags, which is not part of its API.
func migError(config *spec.Config) error {
	switch *config.Flags.MigStrategy {
	case spec.MigStrategyNone, spec.MigStrategySingle:
		return nil
	case spec.MigStrategyMixed:
		if config.Sharing.SharingStrategy() == spec.SharingStrategyMPS {
			return fmt.Errorf("using --mig-strategy=mixed is not supported with MPS")
		}
		return nil
	}
	return fmt.Errorf("unknown MIG strategy: %v", *config.Flags.MigStrategy)
}

func load(input io.Reader) (*spec.Config, error) {
	file, err := os.CreateTemp("", "plugin-config-*.yaml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := io.Copy(file, input); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}

	var config *spec.Config
	app := cli.NewApp()
	app.Flags = newFlags()
	app.Action = func(c *cli.Context) error {
		var err error
		config, err = spec.NewConfig(c, app.Flags)
		return err
	}
	if err := app.Run([]string{"plugin", "--config-file", file.Name()}); err != nil {
		return nil, err
	}
	spec.DisableResourceNamingInConfig(config)
	return config, migError(config)
}

// checkPluginConfig reads a device plugin config file as the NVIDIA device plugin does, and prints
// the sharing resources it ends up with as JSON.
func checkPluginConfig(input io.Reader) error {
	config, err := load(input)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(summary{
		Version:     config.Version,
		MigStrategy: *config.Flags.MigStrategy,
		FailOnInit:  *config.Flags.FailOnInitError,
		Strategy:    config.Sharing.SharingStrategy(),
		Sharing:     config.Sharing.ReplicatedResources(),
		PluginFlags: config.Flags.Plugin,
	})
}
