// go_validators reads exported files with the Go code of the programs that they are for, so that
// all of it is compiled once.
//
//	go_validators plugin                device plugin config on standard input; prints its meaning
//	go_validators mig-parted            config of mig-parted on standard input; prints its layouts
//	go_validators objects CRDS FILE...  custom resources against the CRDs in a folder, with CEL
//	go_validators dra FILE              parameters in DRA objects, as NVIDIA's driver decodes them
//
// It exits 1 with the reader's own words when the reader would refuse the file.
package main

import (
	"fmt"
	"os"
)

func run(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("plugin, mig-parted, objects or dra?")
	}
	switch {
	case arguments[0] == "plugin" && len(arguments) == 1:
		return checkPluginConfig(os.Stdin)
	case arguments[0] == "mig-parted" && len(arguments) == 1:
		return checkMigParted(os.Stdin)
	case arguments[0] == "objects" && len(arguments) >= 3:
		return checkObjects(arguments[1], arguments[2:])
	case arguments[0] == "dra" && len(arguments) == 2:
		return checkDRA(arguments[1])
	}
	return fmt.Errorf("unknown arguments %v", arguments)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
