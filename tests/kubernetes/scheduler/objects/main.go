// objects reads files of one object each as kube-apiserver does: strict decoding, defaults,
// validation.
//
//	objects FILE...
//
// It prints "FILE: why" for each that is refused.
package main

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	resourcevalidation "k8s.io/kubernetes/pkg/apis/resource/validation"
)

// generate adds what the strategy of Jobs adds before they are validated.
func generate(job *batch.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	job.UID = "00000000-0000-0000-0000-000000000000"
	if job.Spec.Template.Labels == nil {
		job.Spec.Template.Labels = map[string]string{}
	}
	labels := job.Spec.Template.Labels
	labels["controller-uid"] = string(job.UID)
	labels[batch.ControllerUidLabel] = string(job.UID)
	labels["job-name"] = job.Name
	labels[batch.JobNameLabel] = job.Name
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{
			batch.ControllerUidLabel: string(job.UID)}}
	}
}

func validate(object runtime.Object) field.ErrorList {
	if of, ok := object.(metav1.Object); ok && of.GetNamespace() == "" {
		if _, isClass := object.(*resource.DeviceClass); !isClass {
			of.SetNamespace("default")
		}
	}
	options := corevalidation.PodValidationOptions{PodLevelResourcesEnabled: true}
	switch of := object.(type) {
	case *core.Pod:
		return corevalidation.ValidatePodCreate(of, options)
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(of)
	case *apps.Deployment:
		return appsvalidation.ValidateDeployment(of, options)
	case *apps.DaemonSet:
		return appsvalidation.ValidateDaemonSet(of, options)
	case *apps.StatefulSet:
		return appsvalidation.ValidateStatefulSet(of, options)
	case *batch.Job:
		generate(of)
		return batchvalidation.ValidateJob(of, batchvalidation.JobValidationOptions{
			PodValidationOptions: options, RequirePrefixedLabels: true})
	case *batch.CronJob:
		return batchvalidation.ValidateCronJobCreate(of, options)
	case *autoscaling.HorizontalPodAutoscaler:
		return autoscalingvalidation.ValidateHorizontalPodAutoscaler(of, autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{
			ObjectMetricsValidationOptions: autoscalingvalidation.CrossVersionObjectReferenceValidationOptions{AllowEmptyAPIGroup: true}})
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(of, policyvalidation.PodDisruptionBudgetValidationOptions{})
	case *resource.ResourceClaim:
		return resourcevalidation.ValidateResourceClaim(of)
	case *resource.ResourceClaimTemplate:
		return resourcevalidation.ValidateResourceClaimTemplate(of)
	case *resource.DeviceClass:
		return resourcevalidation.ValidateDeviceClass(of)
	}
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("%T is not validated here", object))}
}

func refusal(file string) (err error) {
	// The validation of Jobs falls over an Indexed one without completions; so does the server's, which
	// answers with an error.
	defer func() {
		if fell := recover(); fell != nil {
			err = fmt.Errorf("%v", fell)
		}
	}()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	codecs := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)
	object, _, err := codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return err
	}
	return validate(object).ToAggregate()
}

func main() {
	for _, file := range os.Args[1:] {
		if err := refusal(file); err != nil {
			fmt.Printf("%s: %v\n", file, err)
		}
	}
}
