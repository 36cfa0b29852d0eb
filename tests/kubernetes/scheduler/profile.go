package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

const (
	tieBreaker = "TieBreaker"
	// Of all of kube-scheduler's plugins beside the one that breaks ties: which nodes are best is as
	// before.
	weightScale = 1000
)

// preferred breaks ties only: of nodes with the same score the one that it names for the pod.
type preferred struct{ node func(pod string) string }

func (preferred) Name() string { return tieBreaker }

func (plugin preferred) Score(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	if plugin.node(pod.Name) == node.Node().Name {
		return 1, nil
	}
	return 0, nil
}

func (preferred) ScoreExtensions() fwk.ScoreExtensions { return nil }

func registry(node func(pod string) string) frameworkruntime.Registry {
	return frameworkruntime.Registry{
		tieBreaker: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return preferred{node}, nil
		}}
}

// defaultProfile is what kube-scheduler has without a configuration, or with NodeResourcesFit's
// strategy MostAllocated.
func defaultProfile(mostAllocated bool) (config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var all config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &all, nil); err != nil {
		return config.KubeSchedulerProfile{}, err
	}
	profile := all.Profiles[0]
	plugins := &profile.Plugins.MultiPoint.Enabled
	for n := range *plugins {
		(*plugins)[n].Weight *= weightScale
	}
	*plugins = append(*plugins, config.Plugin{Name: tieBreaker, Weight: 1})
	if mostAllocated {
		for _, one := range profile.PluginConfig {
			if args, is := one.Args.(*config.NodeResourcesFitArgs); is {
				args.ScoringStrategy.Type = config.MostAllocated
			}
		}
	}
	return profile, nil
}
