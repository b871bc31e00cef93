/** A multi-document manifest of ten kinds, in the spelling of an API domain. */
export function tenKinds(domain: string): string {
  return `apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: shop, labels: { app: web } }
data: { color: blue, "size": "12" }
---
apiVersion: v1
kind: Secret
metadata: { name: keys, namespace: shop }
type: Opaque
stringData: { password: hunter2 }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: worker, namespace: shop }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop, labels: { app: web } }
spec:
  selector: { app: web }
  ports: [{ name: http, port: 80, targetPort: 8080, protocol: TCP }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop, labels: { app: web } }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - name: web
        image: example.com/web:1
        ports: [{ containerPort: 8080 }]
        resources: { requests: { cpu: 100m, memory: 64Mi } }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, namespace: shop }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      containers: [{ name: db, image: "example.com/db:1" }]
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: report, namespace: shop }
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers: [{ name: report, image: "example.com/report:1" }]
---
apiVersion: networking.${domain}/v1
kind: Ingress
metadata: { name: web, namespace: shop }
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: { service: { name: web, port: { number: 80 } } }
---
apiVersion: rbac.authorization.${domain}/v1
kind: Role
metadata: { name: reader, namespace: shop }
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
`;
}
