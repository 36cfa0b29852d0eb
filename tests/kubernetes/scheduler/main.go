// scheduler holds what slicewise says of pods and nodes to kube-scheduler's own code.
//
//	scheduler [-v] [-known FILE] < RUNS    RUNS: what tests/kubernetes/write_runs prints
//
// It registers the nodes of each run, creates and ends pods when the run does, lets kube-scheduler's
// default profile decide, and says where the two differ. Exit code 1: somewhere they do and FILE,
// which has the name of a run and a reason in each line, does not say so, or says so wrongly.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/klog/v2"
)

// Of equal nodes kube-scheduler preempts on any, so a run whose victims are elsewhere may be one of
// several right answers: it is asked again.
const mostTries = 100

// differences of the try that got farthest; nil when one agreed throughout.
func differences(run Run) ([]string, int) {
	var found []string
	farthest := int64(-1)
	for n := 1; n <= mostTries; n++ {
		replay, err := newReplay(context.Background(), run)
		if err != nil {
			return []string{err.Error()}, n
		}
		differs, at := replay.differs()
		replay.stop()
		if len(differs) == 0 {
			return nil, n
		}
		if at > farthest {
			found, farthest = differs, at
		}
		if !run.mayPreempt() {
			return found, n
		}
	}
	return found, mostTries
}

// knownDifferences has the reason by the name of the run.
func knownDifferences(file string) (map[string]string, error) {
	known := map[string]string{}
	if file == "" {
		return known, nil
	}
	text, err := os.ReadFile(file)
	for _, line := range strings.Split(string(text), "\n") {
		if name, reason, has := strings.Cut(line, " "); has && name != "#" {
			known[name] = reason
		}
	}
	return known, err
}

// check says how many runs are not as they should be.
func check(input io.Reader, known map[string]string, verbose bool) (int, error) {
	runs, pods, pending, victims, differ, bad := 0, 0, 0, 0, 0, 0
	for decoder := json.NewDecoder(bufio.NewReader(input)); ; runs++ {
		var run Run
		if err := decoder.Decode(&run); err == io.EOF {
			break
		} else if err != nil {
			return bad, err
		}
		for _, pod := range run.Pods {
			pods++
			if pod.Node == "" {
				pending++
			}
			if pod.Evicted {
				victims++
			}
		}
		found, tries := differences(run)
		reason, isKnown := known[run.Name]
		if len(found) > 0 {
			differ++
		}
		switch {
		case len(found) > 0 && isKnown:
			fmt.Printf("%s: differs as is known: %s\n", run.Name, reason)
		case len(found) > 0:
			bad++
			fmt.Printf("%s: %s\n", run.Name, strings.Join(found, "\n\t"))
		case isKnown:
			bad++
			fmt.Printf("%s: no longer differs\n", run.Name)
		case verbose:
			fmt.Printf("%s: %d pods as in the cluster (tries: %d)\n", run.Name, len(run.Pods), tries)
		}
	}
	fmt.Printf("%d runs, %d pods, %d of them Pending to the end, %d preempted: %d runs differ\n",
		runs, pods, pending, victims, differ)
	if runs == 0 {
		return 1, nil
	}
	return bad, nil
}

func main() {
	verbose := flag.Bool("v", false, "name the runs that agree, too")
	file := flag.String("known", "", "runs that differ, and why")
	flag.Parse()
	klog.SetLogger(klog.Logger{})
	known, err := knownDifferences(*file)
	bad := 0
	if err == nil {
		bad, err = check(os.Stdin, known, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if bad > 0 || err != nil {
		os.Exit(1)
	}
}
