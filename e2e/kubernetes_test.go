package e2e_test

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// manifest is what a file of deploy/kubernetes has.
type manifest struct {
	deployment appsv1.Deployment
	stateful   appsv1.StatefulSet
	service    corev1.Service
	budget     policyv1.PodDisruptionBudget
	kinds      []string
}

// readManifest reads a file strictly: a key that Kubernetes does not know is an error.
func readManifest(text string) (m manifest, err error) {
	for document := range strings.SplitSeq(text, "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			return m, err
		}
		into := map[string]any{
			"apps/v1 Deployment": &m.deployment, "apps/v1 StatefulSet": &m.stateful, "v1 Service": &m.service,
			"policy/v1 PodDisruptionBudget": &m.budget,
		}[kind.APIVersion+" "+kind.Kind]
		m.kinds = append(m.kinds, kind.Kind)
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			return m, err
		}
	}
	return m, nil
}

// loadManifest reads a file and tests what the files have in common: the pods, and what finds them.
func loadManifest(t *testing.T, file string, kinds ...string) (manifest, corev1.PodTemplateSpec) {
	t.Helper()
	text := program.Read(t, file)
	m, err := readManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.kinds, kinds) {
		t.Fatalf("the file has %q, want %q", m.kinds, kinds)
	}
	for _, key := range []string{
		"metadata", "selector", "matchLabels", "template", "terminationGracePeriodSeconds", "runAsNonRoot", "image", "value", "containerPort",
		"startupProbe", "readinessProbe", "livenessProbe", "path", "periodSeconds", "preStop", "seconds", "limits", "readOnlyRootFilesystem",
		"drop", "mountPath", "emptyDir", "targetPort",
	} {
		if _, err := readManifest(program.Replaced(t, text, " "+key+":", " x"+key+":")); err == nil {
			t.Errorf("nobody would notice x%s", key)
		}
	}
	pod, selector := m.deployment.Spec.Template, m.deployment.Spec.Selector
	if slices.Contains(kinds, "StatefulSet") {
		pod, selector = m.stateful.Spec.Template, m.stateful.Spec.Selector
		if m.stateful.Spec.ServiceName != m.service.Name {
			t.Errorf("the pods belong to the Service %q, and the Service is %q", m.stateful.Spec.ServiceName, m.service.Name)
		}
	}
	selectors := []labels.Selector{labels.SelectorFromSet(m.service.Spec.Selector), asSelector(t, selector)}
	if slices.Contains(kinds, "PodDisruptionBudget") {
		selectors = append(selectors, asSelector(t, m.budget.Spec.Selector))
	}
	for _, spread := range pod.Spec.TopologySpreadConstraints {
		selectors = append(selectors, asSelector(t, spread.LabelSelector))
	}
	for _, s := range selectors {
		if s.Empty() || !s.Matches(labels.Set(pod.Labels)) {
			t.Errorf("the selector %q does not match pods with %v", s, pod.Labels)
		}
	}
	c := pod.Spec.Containers[0]
	if len(pod.Spec.Containers) != 1 || c.Image != "gatherkit:1.2.3" || len(c.Command)+len(c.Args) != 0 {
		t.Errorf("the containers are %+v", pod.Spec.Containers)
	}
	if diff := cmp.Diff([]corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}, c.Ports); diff != "" {
		t.Errorf("the port of the image is %s (- wanted, + in the file):\n%s", imagePort, diff)
	}
	if ports := m.service.Spec.Ports; len(ports) != 1 || ports[0].TargetPort != intstr.FromString("http") || ports[0].Port != 80 {
		t.Errorf("the ports of the Service are %+v", ports)
	}
	testRights(t, pod)
	testProbes(t, pod)
	testMemory(t, c)
	return m, pod
}

func asSelector(t *testing.T, selector *metav1.LabelSelector) labels.Selector {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testRights tests that the pod meets the Pod Security Standard restricted, and cannot write to its root.
func testRights(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	no, yes, user := false, true, int64(imageUser)
	all := pod.Spec.SecurityContext
	if all == nil || pod.Spec.Containers[0].SecurityContext == nil {
		t.Fatal("the file does not limit the rights of the pod")
	}
	if diff := cmp.Diff(&corev1.PodSecurityContext{
		RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user, FSGroup: &user, FSGroupChangePolicy: all.FSGroupChangePolicy,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, all); diff != "" {
		t.Errorf("the rights of the pod (- wanted, + in the file):\n%s", diff)
	}
	if diff := cmp.Diff(&corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}, pod.Spec.Containers[0].SecurityContext); diff != "" {
		t.Errorf("the rights of the container (- wanted, + in the file):\n%s", diff)
	}
	if token, links := pod.Spec.AutomountServiceAccountToken, pod.Spec.EnableServiceLinks; token == nil || *token || links == nil || *links {
		t.Error("the pod has a token of the cluster, or variables of its Services")
	}
}

// testProbes compares the probes with what docs/operating.md says, and the time to stop with what the program needs.
func testProbes(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	c := pod.Spec.Containers[0]
	for name, test := range map[string]struct {
		probe  *corev1.Probe
		path   string
		atMost time.Duration // until it acts; 0 stands for no limit
		after  time.Duration // it does not act earlier
	}{
		"startup":   {c.StartupProbe, "/livez", 0, 5 * time.Minute},                // migrations take time
		"readiness": {c.ReadinessProbe, "/readyz", 15 * time.Second, 0},            // calls would fail meanwhile
		"liveness":  {c.LivenessProbe, "/livez", 5 * time.Minute, time.Minute - 1}, // a busy process is no dead one
	} {
		if test.probe == nil || test.probe.HTTPGet == nil || test.probe.HTTPGet.Path != test.path ||
			test.probe.HTTPGet.Port != intstr.FromString("http") || test.probe.HTTPGet.Scheme != "" {
			t.Errorf("%s: the probe is %+v, want %s at the port http", name, test.probe, test.path)
			continue
		}
		acts := time.Duration(test.probe.PeriodSeconds*test.probe.FailureThreshold) * time.Second
		if acts <= test.after || test.atMost > 0 && acts > test.atMost {
			t.Errorf("%s: the probe acts after %v", name, acts)
		}
		if test.probe.TimeoutSeconds <= 2 { // the database has two seconds to answer
			t.Errorf("%s: the probe waits for %d s", name, test.probe.TimeoutSeconds)
		}
		if !strings.Contains(program.Read(t, "docs/operating.md"), "| `GET "+test.path+"` |") {
			t.Errorf("docs/operating.md does not describe %s", test.path)
		}
	}
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Sleep == nil || c.Lifecycle.PreStop.Sleep.Seconds < 1 {
		t.Fatal("the program stops before the nodes know")
	}
	need := time.Duration(c.Lifecycle.PreStop.Sleep.Seconds)*time.Second + drainTime
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second <= need {
		t.Errorf("Kubernetes kills gatherkit after %v s; it may take %v to stop", grace, need)
	}
}

// testMemory tests that the garbage collector knows the limit.
func testMemory(t *testing.T, c corev1.Container) {
	t.Helper()
	limit, requested := c.Resources.Limits.Memory(), c.Resources.Requests.Memory()
	for _, variable := range c.Env {
		if variable.Name == "GOMEMLIMIT" {
			soft := resource.MustParse(strings.TrimSuffix(variable.Value, "B"))
			if soft.Value()*2 != limit.Value() || requested.Value() < soft.Value() {
				t.Errorf("GOMEMLIMIT is %s, of %s requested and at most %s; want half", variable.Value, requested, limit)
			}
			return
		}
	}
	t.Error("GOMEMLIMIT is not set")
}

// boxOf returns a box with the variables of a pod and with its mounts: a folder for each, except for files. volumes has
// the folders of claims.
func boxOf(t *testing.T, pod corev1.PodTemplateSpec, volumes, secret map[string]string) box {
	t.Helper()
	b := box{variables: map[string]string{}, folders: map[string]string{}, files: map[string]file{}}
	c := pod.Spec.Containers[0]
	for _, variable := range c.Env {
		if variable.ValueFrom != nil || variable.Value == "" {
			t.Fatalf("%s has no value", variable.Name)
		}
		b.variables[variable.Name] = variable.Value
	}
	volumes = maps.Clone(volumes)
	files := map[string]os.FileMode{}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.EmptyDir != nil:
			volumes[v.Name] = owned(t, 0, 0o777)
		case v.Secret != nil && v.Secret.SecretName == "gatherkit" && v.Secret.DefaultMode != nil:
			files[v.Name] = os.FileMode(*v.Secret.DefaultMode)
		default:
			t.Fatalf("the volume %s is %+v", v.Name, v.VolumeSource)
		}
	}
	for _, mount := range c.VolumeMounts {
		if mode, isSecret := files[mount.Name]; isSecret {
			for key, content := range secret {
				b.files[path.Join(mount.MountPath, key)] = file{content, mode}
			}
			delete(files, mount.Name)
			continue
		}
		if volumes[mount.Name] == "" {
			t.Fatalf("there is no volume %s", mount.Name)
		}
		b.folders[mount.MountPath] = volumes[mount.Name]
		delete(volumes, mount.Name)
	}
	if len(volumes)+len(files) > 0 {
		t.Errorf("these volumes are not mounted: %v %v", volumes, files)
	}
	return b
}

// serves uses the service in a box, and asks what the probes of the pod ask.
func serves(t *testing.T, b box, pod corev1.PodTemplateSpec) {
	t.Helper()
	p := b.use(t)
	c := pod.Spec.Containers[0]
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if !program.Answers(t, p.URL+probe.HTTPGet.Path) {
			t.Errorf("%s does not answer 200", probe.HTTPGet.Path)
		}
	}
	p.Stop(t)
}

func TestKubernetesPostgres(t *testing.T) {
	m, pod := loadManifest(t, "deploy/kubernetes/postgresql.yaml", "Deployment", "Service", "PodDisruptionBudget")
	d := m.deployment.Spec
	if d.Replicas == nil || *d.Replicas < 2 || d.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		t.Fatalf("%v replicas with the strategy %+v", d.Replicas, d.Strategy)
	}
	update, budget := d.Strategy.RollingUpdate, m.budget.Spec
	if update == nil || *update.MaxUnavailable != intstr.FromInt32(0) || *update.MaxSurge != intstr.FromInt32(1) {
		t.Errorf("the rolling update is %+v", update)
	}
	if budget.MaxUnavailable == nil || *budget.MaxUnavailable != intstr.FromInt32(1) || budget.MinAvailable != nil {
		t.Errorf("the budget is %+v", budget)
	}
	// docs/operating.md: 21 connections per replica plus 10, of PostgreSQL's 100.
	if connections := (*d.Replicas+1)*21 + 10; connections > 100 {
		t.Errorf("during an update, the replicas need %d connections", connections)
	}
	// The key is that of the command in docs/operating.md.
	const create = "kubectl create secret generic gatherkit --from-file="
	key, _, found := strings.Cut(strings.TrimPrefix(program.Block(t, create), create), "=")
	if !found {
		t.Fatal("docs/operating.md does not say how to create the Secret")
	}
	serves(t, boxOf(t, pod, map[string]string{}, map[string]string{key: storetest.Postgres(t) + "\n"}), pod)
}

func TestKubernetesSQLite(t *testing.T) {
	m, pod := loadManifest(t, "deploy/kubernetes/sqlite.yaml", "StatefulSet", "Service")
	s := m.stateful.Spec
	if s.Replicas == nil || *s.Replicas != 1 {
		t.Errorf("%v services would share a SQLite file", s.Replicas)
	}
	if len(s.VolumeClaimTemplates) != 1 {
		t.Fatalf("the claims are %+v", s.VolumeClaimTemplates)
	}
	claim := s.VolumeClaimTemplates[0]
	once := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	if size := claim.Spec.Resources.Requests.Storage(); !slices.Equal(claim.Spec.AccessModes, once) || size.Value() < 1<<30 {
		t.Errorf("the claim is %+v", claim.Spec)
	}
	if policy := pod.Spec.SecurityContext.FSGroupChangePolicy; policy == nil || *policy != corev1.FSGroupChangeOnRootMismatch {
		t.Error("Kubernetes would open every file to the group at every start")
	}
	// With fsGroup, a volume belongs to root and the group.
	volume := owned(t, 0, 0o775|os.ModeSetgid)
	b := boxOf(t, pod, map[string]string{claim.Name: volume}, nil)
	serves(t, b, pod)
	if _, err := os.Stat(path.Join(volume, "gatherkit", "gatherkit.db")); err != nil {
		t.Errorf("the database is not in the volume: %v", err)
	}
	p := b.start(t) // after a restart, it finds its data
	p.Stop(t)
	if strings.Contains(p.Stdout.String(), "There are no users yet") {
		t.Error("a restart lost the users")
	}
}
