package main

import (
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	namespace = "default"
	appLabel  = "app"
)

// When runs begin, long ago: no pod starts in the future.
var began = time.Now().Add(-365 * 24 * time.Hour).Truncate(time.Second)

func quantities(milliCPU, memory int64, extended map[string]int64) corev1.ResourceList {
	list := corev1.ResourceList{}
	if milliCPU > 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)
	}
	if memory > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(memory, resource.BinarySI)
	}
	for name, count := range extended {
		list[corev1.ResourceName(name)] = *resource.NewQuantity(count, resource.DecimalSI)
	}
	return list
}

func apiNode(node Node) *corev1.Node {
	labels := map[string]string{corev1.LabelHostname: node.Name}
	for key, value := range node.Labels {
		labels[key] = value
	}
	allocatable := quantities(node.MilliCPU, node.Memory, node.Extended)
	allocatable[corev1.ResourcePods] = *resource.NewQuantity(node.Pods, resource.DecimalSI)
	var taints []corev1.Taint
	for _, taint := range node.Taints {
		taints = append(taints, corev1.Taint{
			Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: types.UID(node.Name), Labels: labels},
		Spec:       corev1.NodeSpec{Taints: taints},
		Status:     corev1.NodeStatus{Capacity: allocatable, Allocatable: allocatable},
	}
}

// The pod of a DaemonSet. None of them is preempted.
func daemonPod(daemon Daemon, node string) *corev1.Pod {
	const systemNodeCritical = int32(2000001000)
	name := daemon.Name + "-" + node
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "kube-system", UID: types.UID(name),
			CreationTimestamp: metav1.NewTime(began)},
		Spec: corev1.PodSpec{
			NodeName: node, Priority: ptr.To(systemNodeCritical),
			Containers: []corev1.Container{{
				Name: "main", Image: "image",
				Resources: corev1.ResourceRequirements{
					Requests: quantities(daemon.MilliCPU, daemon.Memory, nil)}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// A Deployment's pods are those of its ReplicaSet, which is what kube-scheduler spreads them by.
func replicaSet(workload Workload) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: workload.Name, Namespace: namespace, UID: types.UID(workload.Name)},
		Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: workload.Name}}},
	}
}

func affinityTerm(term Term) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{
		TopologyKey:   term.TopologyKey,
		LabelSelector: &metav1.LabelSelector{MatchLabels: term.Labels}}
}

func requiredTerms(terms []Term) []corev1.PodAffinityTerm {
	var list []corev1.PodAffinityTerm
	for _, term := range terms {
		list = append(list, affinityTerm(term))
	}
	return list
}

func weightedTerms(terms []Term) []corev1.WeightedPodAffinityTerm {
	var list []corev1.WeightedPodAffinityTerm
	for _, term := range terms {
		list = append(list, corev1.WeightedPodAffinityTerm{Weight: term.Weight, PodAffinityTerm: affinityTerm(term)})
	}
	return list
}

func affinity(workload Workload) *corev1.Affinity {
	nodes := &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferredNodes(workload)}
	if len(workload.RequiredNodes) > 0 {
		nodes.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		terms := &nodes.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for _, one := range workload.RequiredNodes {
			*terms = append(*terms, nodeTerm(one))
		}
	}
	return &corev1.Affinity{
		NodeAffinity: nodes,
		PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  requiredTerms(workload.Affinity),
			PreferredDuringSchedulingIgnoredDuringExecution: weightedTerms(workload.Likes)},
		PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  requiredTerms(workload.AntiAffinity),
			PreferredDuringSchedulingIgnoredDuringExecution: weightedTerms(workload.Dislikes)}}
}

func nodeTerm(nodes PreferredNodes) corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for _, one := range nodes.Requirements {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: one.Key, Operator: corev1.NodeSelectorOperator(one.Operator), Values: one.Values})
	}
	return term
}

func preferredNodes(workload Workload) []corev1.PreferredSchedulingTerm {
	var list []corev1.PreferredSchedulingTerm
	for _, nodes := range workload.PreferredNodes {
		list = append(list, corev1.PreferredSchedulingTerm{Weight: nodes.Weight, Preference: nodeTerm(nodes)})
	}
	return list
}

func hostPorts(workload Workload) []corev1.ContainerPort {
	var list []corev1.ContainerPort
	for _, port := range workload.HostPorts {
		number, protocol, isNamed := strings.Cut(port, "/")
		if !isNamed {
			protocol = string(corev1.ProtocolTCP)
		}
		value, _ := strconv.Atoi(number)
		list = append(list, corev1.ContainerPort{
			ContainerPort: int32(value), HostPort: int32(value), Protocol: corev1.Protocol(protocol)})
	}
	return list
}

func spreads(workload Workload) []corev1.TopologySpreadConstraint {
	var list []corev1.TopologySpreadConstraint
	for _, term := range workload.Spreads {
		one := corev1.TopologySpreadConstraint{
			MaxSkew: term.MaxSkew, TopologyKey: term.TopologyKey,
			WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(term.WhenUnsatisfiable),
			LabelSelector:     &metav1.LabelSelector{MatchLabels: term.Labels}}
		if term.MinDomains > 1 {
			one.MinDomains = ptr.To(term.MinDomains)
		}
		if term.NodeAffinityPolicy != "" {
			one.NodeAffinityPolicy = ptr.To(corev1.NodeInclusionPolicy(term.NodeAffinityPolicy))
		}
		if term.NodeTaintsPolicy != "" {
			one.NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicy(term.NodeTaintsPolicy))
		}
		list = append(list, one)
	}
	return list
}

func apiPod(pod Pod, workload Workload) *corev1.Pod {
	labels := map[string]string{appLabel: workload.Name}
	for key, value := range workload.Labels {
		labels[key] = value
	}
	meta := metav1.ObjectMeta{
		Name: pod.Name, Namespace: namespace, UID: types.UID(pod.Name),
		Labels:            labels,
		CreationTimestamp: metav1.NewTime(began.Add(time.Duration(pod.Created)))}
	if workload.IsReplicaSet {
		meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
			replicaSet(workload), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	}
	var tolerations []corev1.Toleration
	for _, one := range workload.Tolerations {
		tolerations = append(tolerations, corev1.Toleration{
			Key: one.Key, Operator: corev1.TolerationOperator(one.Operator), Value: one.Value,
			Effect: corev1.TaintEffect(one.Effect)})
	}
	policy := corev1.PreemptLowerPriority
	if workload.NeverPreempts {
		policy = corev1.PreemptNever
	}
	asked := quantities(workload.MilliCPU, workload.Memory, workload.Extended)
	return &corev1.Pod{
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
			SchedulerName:    corev1.DefaultSchedulerName,
			Priority:         ptr.To(workload.Priority),
			PreemptionPolicy: &policy,
			NodeSelector:     workload.NodeSelector,
			Affinity:         affinity(workload),
			Tolerations:      tolerations,

			TopologySpreadConstraints: spreads(workload),
			Containers: []corev1.Container{{
				Name: "main", Image: "image", Ports: hostPorts(workload),
				Resources: corev1.ResourceRequirements{Requests: asked,
					Limits: quantities(0, 0, workload.Extended)}}},
		},
	}
}
