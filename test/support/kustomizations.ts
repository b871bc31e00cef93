/** Kustomizations whose output is compared with that of kubectl. */
export interface KustomizationCase {
  readonly title: string;
  /** The folder that is built, by default the root. */
  readonly folder?: string;
  /** The contents of the files by their paths. */
  readonly files: { readonly [path: string]: string };
  /** Whether both must refuse it. */
  readonly fails?: true;
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: runner
      imagePullSecrets: [{name: registry}]
      initContainers:
      - {name: init, image: "busybox:1.36@sha256:0123", envFrom: [{configMapRef: {name: settings}}]}
      containers:
      - name: web
        image: nginx:1.25
        args: [serve, "--all"]
        ports: [{containerPort: 80}]
        env:
        - {name: COLOUR, valueFrom: {configMapKeyRef: {name: settings, key: colour}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: login, key: password}}}
        - {name: HOST, value: example.com}
        volumeMounts: [{name: data, mountPath: /data}]
      - {name: proxy, image: "registry.example.com:5000/team/proxy:2", envFrom: [{secretRef: {name: login}}]}
      volumes:
      - {name: data, persistentVolumeClaim: {claimName: data}}
      - {name: settings, configMap: {name: settings}}
      - {name: login, secret: {secretName: login}}
      - name: both
        projected: {sources: [{configMap: {name: settings}}, {secret: {name: login}}]}
`;

const service = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 80}, {port: 53, protocol: UDP, name: dns}]
`;

const account = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
imagePullSecrets: [{name: registry}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [settings, other], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {kind: ServiceAccount, name: runner, namespace: default}
- {kind: ServiceAccount, name: default, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: runner, namespace: default}]
`;

const others = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/auth-secret: login}}
spec:
  defaultBackend: {service: {name: web, port: {number: 80}}}
  tls: [{secretName: login}]
  rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  ingress: [{from: [{podSelector: {matchLabels: {app: proxy}}}, {namespaceSelector: {}}]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks: [{name: a.example.com, clientConfig: {service: {name: web, namespace: default, path: /}}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tidy}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          serviceAccountName: runner
          containers: [{name: tidy, image: busybox, envFrom: [{configMapRef: {name: settings}}]}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: web
  template: {metadata: {}, spec: {containers: [{name: db, image: postgres}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fast}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/fast
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {items: [{name: a, size: 1}, {name: b, size: 2}], image: nginx}
`;

const texts = `
apiVersion: v1
kind: ConfigMap
metadata: {name: texts, annotations: {number: 1, text: "a: b"}}
data:
  yes: yes
  on: "on"
  octal: 010
  float: 1.0
  exponent: 1e3
  sum: "1_000"
  empty: ""
  nothing: null
  lines: |
    first
      second

    third
  trailing: "ends with a space "
  tabs: "a\\tb"
  quotes: it's "quoted"
  long: "a long text a long text a long text a long text a long text a long text a long text a long text a long text"
  folded: >-
    one
    two
  unicode: "é ü 漢 😀"
  star: "*a"
  hash: "a #b"
  colon: "a:b"
  dash: "- a"
  date: "2001-01-01"
`;

const all = { 'web.yaml': deployment, 'service.yaml': service, 'account.yaml': account, 'others.yaml': others };
const resources = 'resources: [web.yaml, service.yaml, account.yaml, others.yaml]\n';
const generators = `
configMapGenerator:
- name: settings
  literals: [colour=green, 'size="3"', "empty="]
secretGenerator:
- name: login
  literals: [password=secret]
- name: registry
  type: kubernetes.io/dockerconfigjson
  literals: ['.dockerconfigjson={}']
`;

export const kustomizations: readonly KustomizationCase[] = [
  {
    title: 'objects in the order of their kinds',
    files: { ...all, 'kustomization.yaml': resources },
  },
  {
    title: 'objects in the order of the files',
    files: { ...all, 'kustomization.yml': `${resources}sortOptions: {order: fifo}\n` },
  },
  {
    title: 'an order of the kustomization',
    files: {
      ...all,
      Kustomization: `${resources}sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Service, Deployment], orderLast: [Namespace]}}\n`,
    },
  },
  {
    title: 'a namespace, a prefix and a suffix',
    files: { ...all, 'kustomization.yaml': `${resources}namespace: team\nnamePrefix: my-\nnameSuffix: -v2\n` },
  },
  {
    title: 'common labels and annotations',
    files: {
      ...all,
      'kustomization.yaml': `${resources}commonLabels: {team: blue, tier: "1"}\ncommonAnnotations: {note: "true", owner: jane}\n`,
    },
  },
  {
    title: 'labels with and without selectors, templates and own fields',
    files: {
      ...all,
      'kustomization.yaml': `${resources}
labels:
- pairs: {plain: "yes"}
- pairs: {templated: "1"}
  includeTemplates: true
- pairs: {selected: x}
  includeSelectors: true
- pairs: {own: "z"}
  fields: [{path: spec/labels, create: true, kind: Widget}]
`,
    },
  },
  {
    title: 'images and replicas',
    files: {
      ...all,
      'kustomization.yaml': `${resources}
images:
- {name: nginx, newTag: "1.27"}
- {name: busybox, newName: registry.example.com/busybox, digest: "sha256:4567"}
- {name: "registry.example.com:5000/team/proxy", newName: proxy, newTag: v3}
- {name: postgres, newTag: "16", digest: "sha256:89"}
replicas:
- {name: web, count: 0}
- {name: db, count: 3}
`,
    },
  },
  {
    title: 'generated config maps and secrets, with references to them',
    files: { ...all, 'kustomization.yaml': `${resources}${generators}` },
  },
  {
    title: 'generated names with prefixes of several levels',
    folder: 'overlay',
    files: {
      ...Object.fromEntries(Object.entries(all).map(([path, text]) => [`base/${path}`, text])),
      'base/kustomization.yaml': `${resources}${generators}namePrefix: base-\n`,
      'overlay/kustomization.yaml': `
resources: [../base]
nameSuffix: -prod
namespace: prod
configMapGenerator:
- {name: settings, behavior: merge, literals: [size=4, shape=round]}
secretGenerator:
- {name: login, behavior: replace, literals: [password=other]}
`,
    },
  },
  {
    title: 'sources, options and hashes of generators',
    files: {
      'app.env': '# comment\nA=1\n  B=two words\nC\nD="quoted"\n\n',
      'a.txt': 'line\nother line\n',
      'binary.txt': `${'0123456789'.repeat(12)}`,
      'kustomization.yaml': `
generatorOptions:
  labels: {made: "yes"}
  annotations: {note: common}
configMapGenerator:
- {name: none}
- name: files
  files: [a.txt, other=a.txt]
  envs: [app.env]
- name: plain
  namespace: there
  literals: [a=b=c, "d=<&>", 'e=é']
  options: {disableNameSuffixHash: true, immutable: true, labels: {made: "no", more: "1"}}
secretGenerator:
- name: long
  files: [binary.txt, a.txt]
  envs: [app.env]
- name: tls
  type: kubernetes.io/tls
  literals: [tls.key=k, tls.crt=c]
`,
    },
  },
  {
    title: 'strategic merge patches',
    files: {
      ...all,
      'patch.yaml': `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {patched: "1", gone: null}}
spec:
  replicas: 5
  strategy: {type: Recreate, rollingUpdate: null}
  template:
    spec:
      containers:
      - {name: sidecar, image: sidecar, resources: {limits: {cpu: null, memory: 1Gi}}}
      - name: web
        args: [listen]
        env:
        - {name: HOST, $patch: delete}
        - {name: PASSWORD, value: plain, valueFrom: null}
        - {name: NEW, value: "1"}
        ports: [{containerPort: 8080, name: http}]
      - {name: proxy, $patch: delete}
      volumes: [{name: cache, emptyDir: {}}]
      tolerations: [{key: a, operator: Exists}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80, name: http}, {port: 443, name: https}], selector: {$patch: replace, app: other}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {items: [{name: b, size: 5}], image: null}
`,
      'kustomization.yaml': `${resources}
patches:
- path: patch.yaml
- patch: |
    apiVersion: v1
    kind: Namespace
    metadata: {name: shop}
    $patch: delete
- target: {kind: Deployment|StatefulSet, labelSelector: "app=web"}
  patch: |
    kind: any
    metadata: {name: any}
    spec: {paused: true}
- target: {group: apps, version: v1, name: d.*}
  patch: |
    - {op: add, path: /metadata/labels, value: {a~b: "1"}}
    - {op: replace, path: /spec/serviceName, value: other}
`,
    },
  },
  {
    title: 'the deprecated forms of patches',
    files: {
      ...all,
      'patch.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: NodePort}\n',
      'ops.json':
        '[{"op": "remove", "path": "/spec/selector"}, {"op": "add", "path": "/spec/ports/-", "value": {"port": 1}}]',
      'kustomization.yaml': `${resources}
patchesStrategicMerge:
- patch.yaml
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {minReadySeconds: 3}
patchesJson6902:
- {target: {version: v1, kind: Service, name: web}, path: ops.json}
- target: {group: apps, version: v1, kind: Deployment, name: web}
  patch: '[{"op": "test", "path": "/spec/minReadySeconds", "value": 3}, {"op": "add", "path": "/spec/template/spec/containers/0/args/1", "value": "x"}]'
`,
    },
  },
  {
    title: 'patches that change names and kinds, and references to them',
    files: {
      ...all,
      'kustomization.yaml': `${resources}
patches:
- target: {kind: Service}
  options: {allowNameChange: true}
  patch: |
    apiVersion: v1
    kind: Service
    metadata: {name: frontend}
- target: {kind: StatefulSet}
  options: {allowKindChange: true}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: ignored}
- target: {kind: ConfigMap, annotationSelector: "a=b"}
  patch: '[{"op": "remove", "path": "/data"}]'
namePrefix: p-
`,
    },
  },
  {
    title: 'components',
    folder: 'app',
    files: {
      ...Object.fromEntries(Object.entries(all).map(([path, text]) => [`base/${path}`, text])),
      'base/kustomization.yaml': resources,
      'blue/kustomization.yaml': `
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator: [{name: settings, literals: [colour=blue]}]
patches:
- target: {kind: Deployment}
  patch: '[{"op": "add", "path": "/metadata/annotations", "value": {"colour": "blue"}}]'
`,
      'app/kustomization.yaml': 'resources: [../base]\ncomponents: [../blue]\nnamePrefix: app-\n',
    },
  },
  {
    title: 'replacements',
    files: {
      ...all,
      'values.yaml': `
apiVersion: v1
kind: ConfigMap
metadata: {name: values, annotations: {config.kubernetes.io/local-config: "true", a.b/c: dotted}}
data: {port: "8080", host: shop.example.org, image: "nginx:2"}
`,
      'more.yaml': `
source: {kind: ConfigMap, name: values, fieldPath: "metadata.annotations.[a.b/c]"}
targets:
- select: {kind: Service}
  fieldPaths: ["metadata.annotations.copied\\\\.here/x"]
  options: {create: true}
`,
      'kustomization.yaml': `resources: [web.yaml, service.yaml, account.yaml, others.yaml, values.yaml]
replacements:
- source: {kind: ConfigMap, name: values, fieldPath: data.port}
  targets:
  - select: {kind: Service, name: web}
    fieldPaths: [spec.ports.0.targetPort]
  - select: {kind: Deployment}
    fieldPaths: ["spec.template.spec.containers.[name=web].args.1"]
- source: {kind: ConfigMap, name: values, fieldPath: data.host, options: {delimiter: ".", index: 1}}
  targets:
  - select: {kind: Ingress}
    fieldPaths: [spec.rules.*.host]
    options: {delimiter: ".", index: 1}
- source: {kind: ConfigMap, name: values, fieldPath: data.host}
  targets:
  - select: {kind: Deployment}
    fieldPaths: ["spec.template.spec.containers.[name=proxy].env.[name=HOST].value"]
    options: {create: true}
- source: {kind: Deployment, name: web}
  targets:
  - select: {group: apps}
    reject: [{kind: StatefulSet}]
    fieldPaths: [metadata.labels.app]
- path: more.yaml
namePrefix: x-
`,
    },
  },
  {
    title: 'texts, numbers and words of YAML',
    files: { 'texts.yaml': texts, 'kustomization.yaml': 'resources: [texts.yaml]\n' },
  },
  {
    title: 'lists, and JSON',
    files: {
      'list.json': `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]}`,
      'more.yaml': '---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n# nothing\n',
      'kustomization.yaml': 'resources: [list.json, more.yaml]\nsortOptions: {order: fifo}\n',
    },
  },
  {
    title: 'fields of custom types',
    files: {
      'widget.yaml': `
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {settings: {name: settings}, image: "nginx:1", selector: {}, template: {}, count: 1}
`,
      'fields.yaml': `
nameReference:
- kind: ConfigMap
  version: v1
  fieldSpecs: [{path: spec/settings/name, kind: Widget}]
images: [{path: spec/image, kind: Widget}]
commonLabels: [{path: spec/selector, kind: Widget, create: true}]
commonAnnotations: [{path: spec/template/annotations, kind: Widget, create: true}]
replicas: [{path: spec/count, kind: Widget}]
namePrefix: [{path: spec/settings/label, kind: Widget, create: true}]
`,
      'kustomization.yaml': `
resources: [widget.yaml]
configurations: [fields.yaml]
configMapGenerator: [{name: settings, literals: [a=b]}]
images: [{name: nginx, newTag: "2"}]
replicas: [{name: one, count: 4}]
commonLabels: {a: b}
commonAnnotations: {c: d}
namePrefix: p-
`,
    },
  },
  {
    title: 'names of some kinds only',
    files: {
      'service.yaml': service,
      'widget.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\n',
      'fields.yaml': 'namePrefix: [{path: metadata/name, kind: Widget}]\n',
      'kustomization.yaml': 'resources: [service.yaml, widget.yaml]\nconfigurations: [fields.yaml]\nnamePrefix: my-\n',
    },
  },
  {
    title: 'the origins and transformations of objects',
    folder: 'overlay',
    files: {
      'base/service.yaml': service,
      'base/kustomization.yaml': `resources: [service.yaml]${generators}`,
      'overlay/more.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n',
      'overlay/kustomization.yaml':
        'resources: [../base, more.yaml]\nbuildMetadata: [originAnnotations, transformerAnnotations]\nnamePrefix: a-\nlabels: [{pairs: {a: b}}]\npatches: [{target: {kind: Service}, patch: "- {op: remove, path: /spec/ports}"}]\n',
    },
  },
  {
    title: 'an object of one name in two namespaces',
    folder: 'both',
    files: {
      'base/kustomization.yaml': `resources: [service.yaml, ing.yaml]${generators}`,
      'base/service.yaml': service,
      'base/ing.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{name: a, configMap: {name: settings}}]}\n',
      'one/kustomization.yaml': 'resources: [../base]\nnamespace: one\nnamePrefix: one-\n',
      'two/kustomization.yaml': 'resources: [../base]\nnamespace: two\nnamePrefix: two-\n',
      'both/kustomization.yaml': 'resources: [../one, ../two]\n',
    },
  },
  {
    title: 'a file outside of the folder',
    folder: 'in',
    fails: true,
    files: { 'a.yaml': service, 'in/kustomization.yaml': 'resources: [../a.yaml]\n' },
  },
  {
    title: 'an object twice',
    fails: true,
    files: { 'a.yaml': service, 'b.yaml': service, 'kustomization.yaml': 'resources: [a.yaml, b.yaml]\n' },
  },
  {
    title: 'a patch without its object',
    fails: true,
    files: {
      'a.yaml': service,
      'kustomization.yaml':
        'resources: [a.yaml]\npatches: [{patch: "{apiVersion: v1, kind: Service, metadata: {name: other}}"}]\n',
    },
  },
];
