package main

import "sort"

// Run is one variant as slicewise simulated it. Times are nanoseconds since its start.
type Run struct {
	Name          string
	MostAllocated bool
	Length        int64
	Nodes         []Node
	Workloads     []Workload
	Pods          []Pod
	Messages      []string // all that Pending pods were told
}

type Node struct {
	Name     string
	Pool     string
	Labels   map[string]string
	Taints   []Taint
	MilliCPU int64
	Memory   int64
	Pods     int64
	Extended map[string]int64
	Daemons  []Daemon
}

// Daemon is a pod of a DaemonSet, on the node before the run begins.
type Daemon struct {
	Name     string
	MilliCPU int64
	Memory   int64
}

type Taint struct{ Key, Value, Effect string }

// Term is a rule about pods with these labels.
type Term struct {
	TopologyKey string
	Labels      map[string]string
	Weight      int32
	MaxSkew     int32
	MinDomains  int32

	WhenUnsatisfiable, NodeAffinityPolicy, NodeTaintsPolicy string
}

// PreferredNodes are those that meet all requirements.
type PreferredNodes struct {
	Weight       int32
	Requirements []struct {
		Key, Operator string
		Values        []string
	}
}

type Workload struct {
	Name          string
	IsReplicaSet  bool
	Priority      int32
	NeverPreempts bool
	MilliCPU      int64
	Memory        int64
	Extended      map[string]int64
	Labels        map[string]string
	Affinity      []Term // required
	AntiAffinity  []Term // required
	Likes         []Term // preferred
	Dislikes      []Term
	Spreads       []Term

	PreferredNodes []PreferredNodes
	RequiredNodes  []PreferredNodes // one of them
	HostPorts      []string         // "8000", "53/UDP"

	NodeSelector map[string]string
	Tolerations  []struct{ Key, Operator, Value, Effect string }
}

type Pod struct {
	Name     string
	Workload int
	Replaces string // the pod that was in its place before
	Created  int64
	Node     string // "" while it is Pending
	Bound    int64
	Ended    *int64
	Evicted  bool
}

func (run *Run) mayPreempt() bool {
	lowest, highest := int32(1<<30), int32(-1<<30)
	for _, pod := range run.Pods {
		priority := run.Workloads[pod.Workload].Priority
		lowest, highest = min(lowest, priority), max(highest, priority)
	}
	return highest > lowest
}

// instants at which something happens, in order.
func (run *Run) instants() []int64 {
	seen := map[int64]bool{}
	for _, pod := range run.Pods {
		seen[pod.Created] = true
		if pod.Node != "" {
			seen[pod.Bound] = true
		}
		if pod.Ended != nil {
			seen[*pod.Ended] = true
		}
	}
	instants := make([]int64, 0, len(seen))
	for at := range seen {
		instants = append(instants, at)
	}
	sort.Slice(instants, func(i, j int) bool { return instants[i] < instants[j] })
	return instants
}

func (pod *Pod) endsAt(at int64) bool { return pod.Ended != nil && *pod.Ended == at }

// nodeAt is where slicewise has the pod, "" before it is bound and after its end.
func (pod *Pod) nodeAt(at int64) string {
	if pod.Node == "" || pod.Bound > at || (pod.Ended != nil && *pod.Ended <= at) {
		return ""
	}
	return pod.Node
}
