package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// api is client-go's fake clientset, with what kube-apiserver and kubelet do to pods: each change
// has a version, what is bound has a node and starts, what is deleted has time to end.
type api struct {
	client  *fake.Clientset
	version atomic.Int64
}

func newAPI(startTime func() time.Time, deleted func(pod string)) *api {
	a := &api{client: fake.NewClientset()}
	a.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding)
		return true, binding, a.change(binding.Name, func(pod *corev1.Pod) error {
			if pod.Spec.NodeName != "" {
				return fmt.Errorf("%s is bound to %s", pod.Name, pod.Spec.NodeName)
			}
			pod.Spec.NodeName = binding.Target.Name
			pod.Status.NominatedNodeName = ""
			pod.Status.StartTime = ptr.To(metav1.NewTime(startTime()))
			return nil
		})
	})
	a.client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		name := action.(clienttesting.DeleteAction).GetName()
		deleted(name)
		return true, nil, a.change(name, func(pod *corev1.Pod) error {
			pod.DeletionTimestamp = ptr.To(metav1.Now())
			pod.DeletionGracePeriodSeconds = ptr.To(int64(30))
			return nil
		})
	})
	a.client.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchAction)
		return true, a.pod(patch.GetName()), a.change(patch.GetName(), func(pod *corev1.Pod) error {
			before, err := json.Marshal(pod)
			if err != nil {
				return err
			}
			after, err := strategicpatch.StrategicMergePatch(before, patch.GetPatch(), corev1.Pod{})
			if err != nil {
				return err
			}
			*pod = corev1.Pod{}
			return json.Unmarshal(after, pod)
		})
	})
	return a
}

// pod is nil where there is none.
func (a *api) pod(name string) *corev1.Pod {
	object, err := a.client.Tracker().Get(podResource, namespace, name)
	if err != nil {
		return nil
	}
	return object.(*corev1.Pod)
}

func (a *api) create(pod *corev1.Pod) error {
	pod.ResourceVersion = a.nextVersion()
	return a.client.Tracker().Create(podResource, pod, namespace)
}

func (a *api) change(name string, how func(*corev1.Pod) error) error {
	pod := a.pod(name)
	if pod == nil {
		return fmt.Errorf("there is no pod %s", name)
	}
	pod = pod.DeepCopy()
	if err := how(pod); err != nil {
		return err
	}
	pod.ResourceVersion = a.nextVersion()
	return a.client.Tracker().Update(podResource, pod, namespace)
}

func (a *api) remove(name string) error {
	return a.client.Tracker().Delete(podResource, namespace, name)
}

func (a *api) nextVersion() string { return strconv.FormatInt(a.version.Add(1), 10) }
