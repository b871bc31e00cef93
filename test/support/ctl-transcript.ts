/** Command lines whose results are compared with those of kubectl. NS stands for a namespace of each client's own. */

/** Command lines that change nothing, which run in any order. */
export const reading: readonly string[] = `
get ns
get pods
get pods nope
get pods nope --ignore-not-found
get cm -n nope
get cm -A -l a=b
get ns default -o json
get ns default -o yaml
get ns default kube-system -o yaml
get ns -o name
get cm -n demo -o json
get cm,svc -n demo -o yaml
get ns --sort-by=.metadata.name
get ns --sort-by={.metadata.uid} --no-headers
get ns default -o wide --show-labels -L kubernetes.io/metadata.name
get ns default svc
get ns/default svc
get deploy/web -n demo --subresource=scale
get deploy/web -n demo --subresource=foo
get ns,foo
get foo.bar
get
get -o
get pods,,ns
get deployments.v1.apps -n demo -o name
get ns default -o jsonpath={.metadata.x}
get ns default -o 'jsonpath={.metadata.name'
get ns default -o 'jsonpath={.metadata.name}{"\\n"}{.spec}{"\\t"}{.metadata.labels}'
get ns -o 'jsonpath={range .items[*]}{.metadata.name}={.status.phase},{end}'
get ns -o 'jsonpath={.items[?(@.metadata.name=="demo")].metadata.uid}'
get ns -o 'jsonpath={.items[1:3].metadata.name}'
get ns default -o 'jsonpath={.metadata.labels.kubernetes\\.io/metadata\\.name}'
get ns default -o 'jsonpath={.spec.finalizers[5]}'
get ns -o jsonpath-as-json={.items[*].metadata.name}
get ns default -o custom-columns=A:.metadata.name,B:.spec.finalizers[0],C:.x,D:.spec,E:.spec.finalizers
get ns -o custom-columns=A:.metadata.name --no-headers
get ns -o custom-columns=A
get ns -o custom-columns
get ns default -o foo
get ns default -o go-template='{{range .spec.finalizers}}{{.}}{{end}}{{.x}}'
get ns default -o go-template='{{foo}}'
get ns -o go-template='{{range $i, $e := .items}}{{if gt $i 0}}, {{end}}{{$e.metadata.name | printf "%s"}}{{end}}{{"\\n"}}'
get ns default -o go-template='{{len .spec.finalizers}} {{index .metadata.labels "kubernetes.io/metadata.name"}} {{.metadata.labels}} {{eq .kind "Namespace"}}'
get ns default -o go-template='{{if .x}}a{{else if .kind}}b{{else}}c{{end}}{{with .spec}}{{.finalizers}}{{end}}'
get ns default --template '{{.kind}}' -o template
get all -A
get --raw /healthz
get pods --foo
get pods -l 'a=('
get pods --field-selector a=b
get pods zz -l a=b
get bookings -n demo
get booking/ada -n demo -o yaml
get po --chunk-size=x
get po -z
get cm a/b/c
get crd
get sa --chunk-size=1 -A
get deploy web -n demo -o yaml --show-managed-fields
get ns -f two.yaml
get -f two.yaml
get -f nofile
get nodes --sort-by=.nope
explain pod.spec.containers.ports.containerPort
explain bookings --recursive
explain pod.spec.nope
explain nope
explain
explain pods --api-version=v2
explain pod.spec.restartPolicy
explain deploy --recursive
explain hpa --api-version=autoscaling/v1
explain pods a
explain quota.spec.hard
describe booking ada -n demo
describe crd
describe foo
describe booking nope -n demo
wait deploy/web -n demo --for=condition=Foo --timeout=1s
wait deploy/nope -n demo --for=delete
wait deploy/web -n demo --for=jsonpath='{.spec.replicas}'=3
wait deploy/web -n demo
wait ns/default --for=create
wait pods --all -n nope --for=condition=Ready
wait deploy/web -n demo --for=foo
auth can-i get pods
auth can-i get pods --as=bob
auth can-i --list --as=bob
auth can-i get pods/log --as=bob -q
auth can-i get /healthz --as=bob
auth can-i
auth can-i '*' '*'
auth whoami
auth whoami --as=bob --as-group=g
auth foo
auth reconcile
api-versions
api-resources
api-resources -o wide
api-resources --namespaced=false --sort-by=kind
api-resources --verbs=list,create --categories=all
config view
config get-contexts
config current-context
config get-clusters
config use-context nope
config get-contexts nope
config view --minify -o jsonpath={.current-context}
get ns --context=nope
get ns --user=nope
get ns --kubeconfig=/nope
version -o foo
foo
replace
create foo
diff
edit
edit ns nope
create cm
create cm a --from-literal=x
create ns foo2 --dry-run=client -o yaml
create cm c --from-file=files --from-file=k=files/f1 --from-literal=a=b -n NS --dry-run=client -o yaml
create cm c --from-env-file=files/e.env --dry-run=client -o yaml
create secret generic s --from-literal=a=b --type=foo --append-hash --dry-run=client -o yaml
create secret docker-registry s --docker-username=u --docker-password=p --docker-email=e --dry-run=client -o yaml
create deploy w --image=a --image=b:1/x --port=80 --dry-run=client -o yaml
create deploy w --image=a -n NS -o yaml --dry-run=client -- cmd arg
create job j --image=x -n NS -o yaml --dry-run=client -- cmd
create job j --from=cronjob/tidy -n demo -o yaml --dry-run=client
create cronjob c --image=x --schedule='* * * * *' --dry-run=client -o yaml
create role r --verb=get,list --resource=pods,deployments.apps --dry-run=client -o yaml
create role r --verb=get
create role r --verb=get --resource=foos --dry-run=client
create rolebinding b --role=r --user=u --group=g --serviceaccount=ns:sa --dry-run=client -o yaml
create clusterrole c --verb=get --non-resource-url=/healthz --dry-run=client -o yaml
create clusterrole c --aggregation-rule=a=b --dry-run=client -o yaml
create clusterrolebinding c --clusterrole=x --user=u --dry-run=client -o yaml
create quota q --hard=cpu=1,pods=2 --scopes=BestEffort --dry-run=client -o yaml
create svc clusterip s --tcp=80:8080 --dry-run=client -o yaml
create svc externalname s --external-name=foo.com --dry-run=client -o yaml
create ingress i --rule='foo.com/*=svc:80,tls=sec' --dry-run=client -o yaml
create pdb p --selector=a=b --min-available=1 --dry-run=client -o yaml
create pc p --value=10 --description=d --dry-run=client -o yaml
create deploy w
create
create -f nofile
create -f two.yaml foo
create -f odd.yaml --validate=foo
patch --local -f three.yaml -p '{"data":{"a":"2"}}' -o yaml
patch --local -f dep.yaml -p '{"spec":{"template":{"spec":{"containers":[{"name":"new","image":"m"},{"name":"main","image":"m:2"}]}}}}' -o yaml
patch --local -f three.yaml --type=json -p '[{"op":"remove","path":"/data/zz"}]'
patch --local cm two -p '{}'
patch deploy web -n demo -p '{"spec":{"replicas":9}}' --dry-run=client -o jsonpath={.spec.replicas}
label --local -f three.yaml b=2 -o yaml
label --local cm three b=2
annotate --local -f three.yaml b=2 -o json
label deploy web -n demo q=1 --dry-run=client -o jsonpath={.metadata.labels}
set image --local deploy dep main=m:2
set image deploy/web -n demo '*=m:9' --dry-run=client -o jsonpath={.spec.template.spec.containers[*].image}
set env --local -f dep.yaml B=2 A- --list
set image -f dep.yaml deploy/dep main=m:3
scale -f dep.yaml --replicas=3 --dry-run=client -o yaml
rollout restart
rollout status -f three.yaml
rollout restart -f dep.yaml deploy/web
delete
delete cm
apply
`
  .trim()
  .split('\n');

/** Command lines that change a namespace, in their order. */
export const changing: readonly string[] = `
create cm a --from-literal=x=1 -n NS
create cm a -n NS
create sa x -n NS
create role r --verb=get --resource=pods --resource-name=a -n NS
create token nope -n NS
create -f two.yaml -n NS
create -f two.yaml -n NS
create -f odd.yaml -n NS
create -f odd.yaml -n NS --validate=warn
create -f nover.yaml -n NS
create -f two.yaml --dry-run=client -n NS -o yaml
label cm one a=b -n NS
label cm one a=b -n NS
label cm one a=c -n NS
label cm one a=c -n NS --overwrite
label cm one a- -n NS
label cm --all x=y -n NS
label cm one -n NS
label cm one --list -n NS
label cm nope a=b -n NS
label cm one 'a=b!' -n NS
annotate cm one a=b -n NS
annotate cm one a=b c=d -n NS -o yaml
annotate cm one a=z -n NS
patch cm one -n NS -p '{}'
patch cm one -n NS -p '{"data":{"q":"1"}}'
patch cm one -n NS --type=merge -p '{"data":{"q":"2"}}' -o yaml
patch cm one -n NS --type=json -p '[{"op":"add","path":"/data/z","value":"1"}]'
patch cm one -n NS --type=json -p '[{"op":"remove","path":"/data/zz"}]'
patch cm one -n NS
patch cm one -n NS -p '{'
patch cm one -n NS --type=foo -p '{}'
patch cm one -n NS -p '{"data":{"q":"5"}}' --dry-run=server
apply -f two.yaml -n NS --server-side
apply -f two.yaml -n NS --server-side --force-conflicts
apply -f two.yaml -n NS --server-side --field-manager=x
apply -f odd.yaml -n NS --server-side
apply -f two.yaml -n NS --server-side --dry-run=client
patch cm two -n NS -p '{"data":{"a":"5"}}'
apply -f two.yaml -n NS --server-side --field-manager=x
replace -f two.yaml -n NS
replace -f odd.yaml -n NS
replace -f three.yaml -n NS
replace -f two.yaml -n NS --force
delete cm one -n NS --dry-run=client
delete -f two.yaml -n NS
delete -f two.yaml -n NS
delete -f two.yaml --ignore-not-found -n NS
delete cm one two -n NS
delete cm/odd svc/nope -n NS
delete cm -l q=b -n NS
delete cm a -n NS --all
delete cm a -n NS --cascade=foo
delete cm a -n NS -o name
delete sa x -n NS --wait=false
`
  .trim()
  .split('\n');

/** Intended differences: the command lines, and why the result is another one. */
export const differences: readonly { readonly why: string; readonly lines: readonly string[] }[] = [
  {
    why: 'A path that no object has is an error; kubectl prints nothing and reports success.',
    lines: ['get nodes --sort-by=.nope'],
  },
  {
    why: 'The message about a failed template ends with its first line; kubectl prints the object too.',
    lines: [`get ns default -o 'jsonpath={.spec.finalizers[5]}'`],
  },
  {
    why: 'Similar commands are suggested, and the two programs have different commands.',
    lines: ['foo'],
  },
  {
    why: 'Problems of a kubeconfig begin with "error:".',
    lines: ['get ns --context=nope'],
  },
  {
    why: 'An object that was not changed is reported as such; kubectl says "labeled" where it had no labels.',
    lines: ['label cm one a- -n NS'],
  },
  {
    why: 'A patch that is neither JSON nor YAML is not sent.',
    lines: [`patch cm one -n NS -p '{'`],
  },
  {
    why: 'The help about conflicts has no link.',
    lines: ['apply -f two.yaml -n NS --server-side --field-manager=x'],
  },
];
