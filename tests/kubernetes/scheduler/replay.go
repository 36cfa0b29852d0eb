package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	patience = 20 * time.Second
	tick     = time.Microsecond // what a decision takes
)

// replay is a run given to kube-scheduler, event by event.
type replay struct {
	run   Run
	ctx   context.Context
	stop  context.CancelFunc
	api   *api
	sched *scheduler.Scheduler
	clock *clocktesting.FakeClock // of the queue: back-offs end as they do in the run

	mutex sync.Mutex
	// By the name that the pod has in the cluster: that of slicewise, unless victims that are alike
	// have changed places.
	roles map[string]*Pod
	now   int64

	barriers int
	victims  []string        // in the cluster, of this instant
	told     map[string]bool // messages, without what PostFilter plugins add to them
}

func newReplay(ctx context.Context, run Run) (*replay, error) {
	r := &replay{run: run, clock: clocktesting.NewFakeClock(began), roles: map[string]*Pod{}, told: map[string]bool{}}
	for n := range r.run.Pods {
		r.roles[r.run.Pods[n].Name] = &r.run.Pods[n]
	}
	r.ctx, r.stop = context.WithCancel(ctx)
	r.api = newAPI(r.startTime, r.preempted)
	for _, node := range run.Nodes {
		if err := r.api.client.Tracker().Add(apiNode(node)); err != nil {
			return r, err
		}
		for _, daemon := range node.Daemons {
			if err := r.api.client.Tracker().Add(daemonPod(daemon, node.Name)); err != nil {
				return r, err
			}
		}
	}
	for _, workload := range run.Workloads {
		if workload.IsReplicaSet {
			if err := r.api.client.Tracker().Add(replicaSet(workload)); err != nil {
				return r, err
			}
		}
	}
	defaults, err := defaultProfile(run.MostAllocated)
	if err != nil {
		return r, err
	}
	factory := informers.NewSharedInformerFactory(r.api.client, 0)
	recorders := profile.RecorderFactory(func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	r.sched, err = scheduler.New(r.ctx, r.api.client, factory, nil, recorders,
		scheduler.WithClock(r.clock), scheduler.WithProfiles(defaults),
		scheduler.WithFrameworkOutOfTreeRegistry(registry(r.preferredNode)))
	if err != nil {
		return r, err
	}
	factory.Start(r.ctx.Done())
	factory.WaitForCacheSync(r.ctx.Done())
	return r, r.sched.WaitForHandlersSync(r.ctx)
}

func (r *replay) role(pod string) *Pod {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.roles[pod]
}

func (r *replay) preferredNode(pod string) string {
	r.mayChange(pod, "")
	return r.role(pod).Node
}

// mayChange has a pod that comes to the node, "" for any, take the place of another that slicewise has come
// there now: those of a workload that were created at one instant are in no order.
func (r *replay) mayChange(pod, node string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	role := r.roles[pod]
	if role.nodeAt(r.now) != "" && role.Bound == r.now {
		return
	}
	for other, its := range r.roles {
		alike := its.Workload == role.Workload && its.Created == role.Created && its.Bound == r.now &&
			its.nodeAt(r.now) != "" && (node == "" || its.Node == node)
		if !alike {
			continue
		}
		if object := r.api.pod(other); object != nil && object.Spec.NodeName == "" {
			r.roles[pod], r.roles[other] = its, role
			return
		}
	}
}

func (r *replay) startTime() time.Time {
	return began.Add(time.Duration(r.now)).Truncate(time.Second)
}

// preempted is called when kube-scheduler deletes a pod. Where slicewise has another end on the
// same node, of the same workload and as old, that is the same.
func (r *replay) preempted(pod string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.victims = append(r.victims, pod)
	role := r.roles[pod]
	if role.Evicted {
		return
	}
	for other, its := range r.roles {
		alike := its.Evicted && its.Workload == role.Workload && its.Node == role.Node &&
			its.Bound/1e9 == role.Bound/1e9 && *its.Ended >= r.now && !slices.Contains(r.victims, other)
		if alike {
			r.roles[pod], r.roles[other] = its, role
			return
		}
	}
}

func (r *replay) await(what string, done func() bool) error {
	for begin := time.Now(); !done(); time.Sleep(200 * time.Microsecond) {
		if time.Since(begin) > patience {
			return fmt.Errorf("waited %v for %s", patience, what)
		}
	}
	return nil
}

func (r *replay) create(pod Pod) error {
	r.clock.Step(tick)
	object := apiPod(pod, r.run.Workloads[pod.Workload])
	if err := r.api.create(object); err != nil {
		return err
	}
	return r.await("the queue to have "+pod.Name, func() bool {
		_, has := r.sched.SchedulingQueue.GetPod(pod.Name, namespace)
		return has
	})
}

// handled waits until kube-scheduler has handled what the API said of pods so far: it does so in
// order, and a pod on a node that is none is changed last.
func (r *replay) handled() error {
	r.barriers++
	mark := fmt.Sprint(r.barriers)
	barrier := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "barrier", Namespace: namespace, UID: "barrier"},
		Spec:       corev1.PodSpec{NodeName: "none"}}
	if r.barriers == 1 {
		if err := r.api.create(barrier); err != nil {
			return err
		}
	}
	if err := r.api.change(barrier.Name, func(pod *corev1.Pod) error {
		pod.Annotations = map[string]string{"mark": mark}
		return nil
	}); err != nil {
		return err
	}
	return r.await("the API's news", func() bool {
		known, err := r.sched.Cache.GetPod(barrier)
		return err == nil && known.Annotations["mark"] == mark
	})
}

// isPreempting says whether victims of the pod are still to be deleted.
func (r *replay) isPreempting(pod *corev1.Pod) bool {
	return slices.ContainsFunc(r.sched.Profiles[corev1.DefaultSchedulerName].PreEnqueuePlugins(),
		func(plugin fwk.PreEnqueuePlugin) bool { return !plugin.PreEnqueue(r.ctx, pod).IsSuccess() })
}

// schedule lets kube-scheduler decide until nothing is left that it would try.
func (r *replay) schedule() error {
	queue := r.sched.SchedulingQueue
	var tried *framework.QueuedPodInfo
	r.sched.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		var err error
		tried, err = queue.Pop(logger)
		return tried, err
	}
	for len(queue.PodsInActiveQ())+len(queue.PodsInBackoffQ()) > 0 {
		r.clock.Step(tick)
		r.sched.ScheduleOne(r.ctx)
		name := tried.Pod.Name
		err := r.await("the decision on "+name, func() bool {
			if _, waits := queue.GetPod(name, namespace); waits {
				return true
			}
			pod := r.api.pod(name)
			known, err := r.sched.Cache.GetPod(pod)
			assumed, _ := r.sched.Cache.IsAssumedPod(pod)
			return err == nil && !assumed && pod.Spec.NodeName == known.Spec.NodeName
		})
		if err != nil {
			return err
		}
		if err := r.settle(name); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for what a decision brings with it, and keeps what the pod was told.
func (r *replay) settle(name string) error {
	pod := r.api.pod(name)
	if err := r.await("victims of "+name, func() bool { return !r.isPreempting(pod) }); err != nil {
		return err
	}
	if err := r.handled(); err != nil {
		return err
	}
	if pod.Spec.NodeName != "" {
		r.mayChange(name, pod.Spec.NodeName)
		return nil
	}
	for _, one := range pod.Status.Conditions {
		if one.Type == corev1.PodScheduled {
			message := one.Message
			for _, added := range []string{" no new claims", " preemption:"} {
				message, _, _ = strings.Cut(message, added)
			}
			r.told[message] = true
		}
	}
	return nil
}

func (r *replay) named(role *Pod) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for name, its := range r.roles {
		if its == role {
			return name
		}
	}
	return ""
}

// step is all that happens at an instant: what has done its work goes, what comes is created. Then
// those go that made room for others, as soon as they are told to, and come anew.
func (r *replay) step() error {
	left := map[string]bool{} // pods that are preempted and have not ended
	for n := range r.run.Pods {
		pod := &r.run.Pods[n]
		if pod.Evicted && pod.endsAt(r.now) {
			left[pod.Name] = true
		} else if pod.endsAt(r.now) {
			if err := r.api.remove(r.named(pod)); err != nil {
				return err
			}
		}
	}
	created := map[string]bool{}
	for {
		for n := range r.run.Pods {
			pod := &r.run.Pods[n]
			if pod.Created != r.now || left[pod.Replaces] || created[pod.Name] {
				continue
			}
			created[pod.Name] = true
			if err := r.create(*pod); err != nil {
				return err
			}
		}
		if err := r.handled(); err != nil {
			return err
		}
		if err := r.schedule(); err != nil {
			return err
		}
		ended := 0
		for n := range r.run.Pods {
			pod := &r.run.Pods[n]
			if !left[pod.Name] {
				continue
			}
			if object := r.api.pod(r.named(pod)); object == nil || object.DeletionTimestamp == nil {
				continue
			}
			if err := r.api.remove(r.named(pod)); err != nil {
				return err
			}
			delete(left, pod.Name)
			ended++
		}
		if ended == 0 {
			break
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("not preempted in the cluster: %s",
			strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	return nil
}

// misplaced says where pods are elsewhere than slicewise has them now.
func (r *replay) misplaced() []string {
	var found []string
	for n := range r.run.Pods {
		pod := &r.run.Pods[n]
		if pod.Created > r.now || (pod.Ended != nil && *pod.Ended <= r.now) {
			continue
		}
		object := r.api.pod(r.named(pod))
		if object == nil {
			found = append(found, fmt.Sprintf("%s is not there", pod.Name))
		} else if there := object.Spec.NodeName; there != pod.nodeAt(r.now) {
			found = append(found, fmt.Sprintf("%s is on %q, in the cluster on %q (%s)", pod.Name,
				pod.nodeAt(r.now), there, nominated(object)))
		}
	}
	return found
}

func nominated(pod *corev1.Pod) string {
	if pod.Status.NominatedNodeName != "" {
		return "nominated: " + pod.Status.NominatedNodeName
	}
	return string(pod.Status.Phase)
}

// differs is empty where the cluster has done what slicewise says; else it says when they part, too.
func (r *replay) differs() ([]string, int64) {
	at := func(found []string) ([]string, int64) {
		for n := range found {
			found[n] = fmt.Sprintf("%.3f s: %s", float64(r.now)/1e9, found[n])
		}
		return found, r.now
	}
	for _, r.now = range r.run.instants() {
		if r.now == r.run.Length {
			break // nobody is bound at the instant in which a run ends
		}
		r.victims = nil
		if now := began.Add(time.Duration(r.now)); now.After(r.clock.Now()) {
			r.clock.SetTime(now)
		}
		if err := r.step(); err != nil {
			return at([]string{err.Error()})
		}
		var found []string
		for _, victim := range r.victims {
			if role := r.role(victim); !role.Evicted || *role.Ended < r.now {
				found = append(found, fmt.Sprintf("%s is preempted in the cluster, not here", role.Name))
			}
		}
		if found = append(found, r.misplaced()...); len(found) > 0 {
			return at(found)
		}
	}
	return at(r.unlikeMessages())
}

func (r *replay) unlikeMessages() []string {
	var found []string
	here := map[string]bool{}
	for _, message := range r.run.Messages {
		here[message] = true
		if !r.told[message] {
			found = append(found, fmt.Sprintf("nobody is told in the cluster: %q", message))
		}
	}
	for message := range r.told {
		if !here[message] {
			found = append(found, fmt.Sprintf("told in the cluster only: %q", message))
		}
	}
	sort.Strings(found)
	return found
}
