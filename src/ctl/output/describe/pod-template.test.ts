import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { podTemplateLines, selectorText } from './pod-template.ts';

// A template as a server returns it, with the defaults that matter.
const template = parse(
  `
metadata: {labels: {b: c, app: histds}, annotations: {z: "a\\nb", x: "y"}}
spec:
  serviceAccountName: default
  nodeSelector: {disk: ssd, a: b}
  tolerations:
  - {key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
  - {operator: Exists}
  - {key: q, value: v}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}
  initContainers:
  - {name: init, image: "i:1", command: [sh, -c, "echo a\\necho b"]}
  containers:
  - name: main
    image: m:1
    args: [a, b]
    ports: [{containerPort: 80, name: web, protocol: TCP}, {containerPort: 53, protocol: UDP}]
    env:
    - {name: A, value: "1"}
    - {name: M, value: "a\\nb"}
    - {name: F, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
    - {name: R, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "0"}}}
    - {name: C, valueFrom: {configMapKeyRef: {name: c, key: k, optional: true}}}
    - {name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}
    envFrom: [{configMapRef: {name: cm}}, {prefix: P_, secretRef: {name: se, optional: true}}]
    resources: {requests: {memory: 1Gi, cpu: 100m}, limits: {memory: 2Gi, cpu: "1"}}
    livenessProbe: &probe
      httpGet: {path: /h, port: web, scheme: HTTP}
      timeoutSeconds: 1
      periodSeconds: 3
      successThreshold: 1
      failureThreshold: 3
    readinessProbe: {<<: *probe, httpGet: null, exec: {command: [cat, /x]}, periodSeconds: 10}
    startupProbe: {<<: *probe, httpGet: null, tcpSocket: {port: 80}, periodSeconds: 10}
    volumeMounts: [{name: b, mountPath: /b, readOnly: true, subPath: s}, {name: a, mountPath: /a}]
  - name: side
    image: s:1
    livenessProbe: {<<: *probe, httpGet: null, grpc: {port: 5, service: x}, periodSeconds: 10}
  volumes:
  - {name: a, emptyDir: {}}
  - {name: b, configMap: {name: cm, optional: true}}
  - {name: c, secret: {secretName: s}}
  - {name: d, persistentVolumeClaim: {claimName: p}}
  - {name: e, hostPath: {path: /x, type: ""}}
  - name: f
    projected:
      sources:
      - {serviceAccountToken: {path: t, expirationSeconds: 3600}}
      - {configMap: {name: k}}
      - {downwardAPI: {}}
      - {secret: {name: u}}
  - {name: g, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}
  - {name: h, nfs: {server: s, path: /p}}
  - {name: i, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
  - {name: j, csi: {driver: d}}
  - {name: k, ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem}}}}
`,
  { merge: true },
);

// The output of kubectl 1.33 for this template.
const described = `Pod Template:
  Labels:	app=histds
	b=c
  Annotations:	x: y
	z:
	  a
	  b
  Service Account:	default
  Init Containers:
   init:
    Image:	i:1
    Port:	<none>
    Host Port:	<none>
    Command:
      sh
      -c
      echo a
      echo b
    Environment:	<none>
    Mounts:	<none>
  Containers:
   main:
    Image:	m:1
    Ports:	80/TCP, 53/UDP
    Host Ports:	0/TCP, 0/UDP
    Args:
      a
      b
    Limits:
      cpu:	1
      memory:	2Gi
    Requests:
      cpu:	100m
      memory:	1Gi
    Liveness:	http-get http://:web/h delay=0s timeout=1s period=3s #success=1 #failure=3
    Readiness:	exec [cat /x] delay=0s timeout=1s period=10s #success=1 #failure=3
    Startup:	tcp-socket :80 delay=0s timeout=1s period=10s #success=1 #failure=3
    Environment Variables from:
      cm	ConfigMap	Optional: false
      se	Secret with prefix 'P_'	Optional: true
    Environment:
      A:	1
      M:	a
      	b
      F:	 (v1:metadata.name)
      R:	1 (limits.cpu)
      C:	<set to the key 'k' of config map 'c'>	Optional: true
      S:	<set to the key 'k' in secret 's'>	Optional: false
    Mounts:
      /a from a (rw)
      /b from b (ro,path="s")
   side:
    Image:	s:1
    Port:	<none>
    Host Port:	<none>
    Liveness:	grpc <pod>:5 x delay=0s timeout=1s period=10s #success=1 #failure=3
    Environment:	<none>
    Mounts:	<none>
  Volumes:
   a:
    Type:	EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:	
    SizeLimit:	<unset>
   b:
    Type:	ConfigMap (a volume populated by a ConfigMap)
    Name:	cm
    Optional:	true
   c:
    Type:	Secret (a volume populated by a Secret)
    SecretName:	s
    Optional:	false
   d:
    Type:	PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:	p
    ReadOnly:	false
   e:
    Type:	HostPath (bare host directory volume)
    Path:	/x
    HostPathType:	
   f:
    Type:	Projected (a volume that contains injected data from multiple sources)
    TokenExpirationSeconds:	3600
    ConfigMapName:	k
    Optional:	false
    DownwardAPI:	true
    SecretName:	u
    Optional:	false
   g:
    Type:	DownwardAPI (a volume populated by information about the pod)
    Items:
      metadata.labels -> l
   h:
    Type:	NFS (an NFS mount that lasts the lifetime of a pod)
    Server:	s
    Path:	/p
    ReadOnly:	false
   i:
    Type:	EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:	Memory
    SizeLimit:	1Gi
   j:
    Type:	CSI (a Container Storage Interface (CSI) volume source)
    Driver:	d
    FSType:	
    ReadOnly:	false
    VolumeAttributes:	<none>
   k:
    Type:	EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)
    StorageClass:	
    Volume:	
    Labels:	    <none>
    Annotations:	    <none>
    Capacity:	
    Access Modes:	
    VolumeMode:	Filesystem
  Topology Spread Constraints:	zone:DoNotSchedule when max skew 1 is exceeded for selector a=b
  Node-Selectors:	a=b
	disk=ssd
  Tolerations:	op=Exists
	k:NoExecute op=Exists for 30s
	q=v`;

it('describes a pod template byte for byte as kubectl does', () => {
  expect(podTemplateLines(template).join('\n')).toBe(described);
});

it('describes an empty template', () => {
  expect(podTemplateLines({})).toEqual([
    'Pod Template:',
    '  Labels:\t<none>',
    '  Containers: <none>',
    '  Volumes:\t<none>',
    '  Node-Selectors:\t<none>',
    '  Tolerations:\t<none>',
  ]);
});

it('writes selectors as queries, in the order of their keys', () => {
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['b', 'a'] },
    { key: 'env', operator: 'DoesNotExist' },
    { key: 'zone', operator: 'Exists' },
  ];
  expect(selectorText({ matchLabels: { app: 'a' }, matchExpressions })).toBe('app=a,!env,tier in (a,b),zone');
  expect(selectorText({})).toBe('<none>');
});

it('prints <unknown> for volumes of other types, also of the names of members of every object', () => {
  const volumes: object[] = [
    { name: 'a', constructor: {} },
    { name: 'b', other: {} },
  ];
  const lines = podTemplateLines({ spec: { containers: [], volumes } } as never);
  expect(lines.filter((line) => line.includes('<unknown>'))).toHaveLength(2);
});

it('prints nothing for the unknown sources of a projected volume', () => {
  const volumes = [{ name: 'a', projected: { sources: [{ toString: {} }] } }];
  const text = podTemplateLines({ spec: { containers: [], volumes } } as never).join('\n');
  expect(text).toContain('Projected (a volume that contains injected data from multiple sources)\n  Node-Selectors');
});
