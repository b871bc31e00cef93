import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMap, type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';
import { tenKinds } from './support/ten-kinds.ts';

// The first commands of everybody: look around, create, get in every form, watch, describe, replace, delete.
describe.skipIf(!hasKubectl())('kubectl', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl();
    kubectl.file('ten.yaml', tenKinds('k8s.io'));
  });
  afterAll(() => kubectl.server.stop());

  describe('looks around', () => {
    it('in the system namespaces', async () => {
      const rows = await kubectl.run('get', 'ns');
      for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
        expect(rows).toMatch(new RegExp(`^${name} +Active`, 'm'));
      }
    });

    it('in kinds, short names, scopes, verbs and versions', async () => {
      const rows = await kubectl.run('api-resources');
      expect(rows).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
      expect(rows).toMatch(/^namespaces +ns +v1 +false +Namespace$/m);
      expect(rows).toMatch(/^validatingwebhookconfigurations +admissionregistration\.k8s\.io\/v1 +false +/m);
      expect(await kubectl.run('api-resources', '--api-group=batch', '-o', 'wide')).toMatch(
        /^cronjobs +cj +batch\/v1 +true +CronJob +create,delete,deletecollection,get,list,patch,update,watch +all$/m,
      );
      const versions = (await kubectl.run('api-versions')).trim().split('\n');
      for (const one of ['v1', 'apps/v1', 'autoscaling/v2', 'rbac.authorization.k8s.io/v1']) {
        expect(versions).toContain(one);
      }
    });

    it('in types, one field or all', async () => {
      const text = await kubectl.run('explain', 'deployment.spec.template.spec.containers.ports');
      expect(text).toContain('KIND:       Deployment');
      expect(text).toMatch(/containerPort\t<integer> -required-/);
      expect(text).toMatch(/protocol\t<string>/);
      const all = await kubectl.run('explain', 'cronjob', '--recursive');
      expect(all).toMatch(/^ {2}spec\t<CronJobSpec>$(?:\n.*)*^ {4}jobTemplate\t<JobTemplateSpec> -required-$/m);
      expect(await kubectl.fails('explain', 'pod.spec.nothing')).toContain('field "nothing" does not exist');
      const policy = await kubectl.run('explain', 'cronjob.spec.concurrencyPolicy');
      expect(policy.replace(/\s+/g, ' ')).toContain('`Forbid` skips it, `Replace` ends the running one.');
      expect(await kubectl.run('explain', 'pod.spec.containers')).not.toContain('<no description>');
    });

    it('at the server, its version and itself', async () => {
      const { url, folder } = kubectl.server;
      expect(await kubectl.run('cluster-info')).toContain(url);
      const { serverVersion } = JSON.parse(await kubectl.run('version', '-o', 'json')) as {
        serverVersion: { [field: string]: string };
      };
      expect(serverVersion).toMatchObject({ major: '1', minor: '33' });
      expect(await kubectl.run('get', '--raw', '/readyz')).toBe('ok');
      expect(JSON.parse(await kubectl.run('get', '--raw', '/version'))).toMatchObject({ major: '1', minor: '33' });
      const whoami = JSON.parse(await kubectl.run('auth', 'whoami', '-o', 'json')) as { status: object };
      const { raw } = new X509Certificate(readFileSync(join(folder, 'admin.crt')));
      const digest = createHash('sha256').update(raw).digest('hex');
      expect(whoami.status).toEqual({
        userInfo: {
          username: 'kubernetes-admin',
          groups: ['system:masters', 'system:authenticated'],
          extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
        },
      });
    });

    it('at what it may do, for itself and as another', async () => {
      expect(await kubectl.run('auth', 'can-i', 'delete', 'pods')).toBe('yes\n');
      expect(await kubectl.run('auth', 'can-i', '--list')).toMatch(/^\*\.\* +\[\] +\[\] +\[\*\]$/m);
      const { code, out } = await kubectl.ends(['auth', 'can-i', 'list', 'pods', '--as=bob']);
      expect([code, out]).toEqual([1, 'no\n']);
      expect(await kubectl.fails('get', 'pods', '--as=bob')).toBe(
        'Error from server (Forbidden): pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"\n',
      );
      expect(await kubectl.run('get', 'pods', '--as=bob', '--as-group=system:masters', '-o', 'name')).toBe('');
    });

    it('for metrics, which nobody serves here', async () => {
      expect(await kubectl.fails('top', 'nodes')).toBe('error: Metrics API not available\n');
    });
  });

  describe('creates', () => {
    it('ten kinds from one file', async () => {
      const out = await kubectl.run('create', '-f', 'ten.yaml');
      expect(out.trim().split('\n')).toEqual([
        'namespace/shop created',
        'configmap/settings created',
        'secret/keys created',
        'serviceaccount/worker created',
        'service/web created',
        'deployment.apps/web created',
        'statefulset.apps/db created',
        'cronjob.batch/report created',
        'ingress.networking.k8s.io/web created',
        'role.rbac.authorization.k8s.io/reader created',
      ]);
    });

    it('nothing twice, and nothing unknown', async () => {
      expect(await kubectl.fails('create', 'cm', 'settings', '-n', 'shop')).toBe(
        'error: failed to create configmap: configmaps "settings" already exists\n',
      );
      const odd = kubectl.file('odd.yaml', `${configMap('odd', '{}')}datum: { a: b }\n`);
      expect(await kubectl.fails('create', '-f', odd)).toContain('unknown field "datum"');
      const foreign = kubectl.file('foreign.yaml', 'apiVersion: example.com/v1\nkind: Foo\nmetadata: { name: x }\n');
      expect(await kubectl.fails('create', '-f', foreign)).toContain('no matches for kind "Foo" in version');
    });
  });

  describe('gets', () => {
    it('a table, also wide, with labels, and of several kinds', async () => {
      expect(await kubectl.run('get', 'deployments', '-n', 'shop')).toMatch(
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/3 +0 +0 +\w+\n$/,
      );
      expect(await kubectl.run('get', 'deploy', '-n', 'shop', '-o', 'wide')).toMatch(
        /CONTAINERS +IMAGES +SELECTOR\n.* web +example\.com\/web:1 +app=web\n$/,
      );
      expect(await kubectl.run('get', 'svc', '-n', 'shop', '--show-labels')).toMatch(
        /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +LABELS\nweb .* app=web\n$/,
      );
      expect(await kubectl.run('get', 'secrets', '-n', 'shop', '-L', 'app')).toMatch(/^keys +Opaque +1 +\w+ +$/m);
      const all = await kubectl.run('get', 'all', '-A', '-l', 'app=web', '-o', 'name');
      expect(all).toBe('service/web\ndeployment.apps/web\n');
      expect(await kubectl.run('get', 'cm,sts', '-A')).toMatch(
        /^NAMESPACE +NAME +DATA +AGE\n(?:kube-system .*\n)*shop +configmap\/settings +2 .*\n\nNAMESPACE +NAME +READY +AGE\nshop +statefulset\.apps\/db +0\/2 /,
      );
    });

    it('YAML, JSON, JSONPath, templates and columns of its own', async () => {
      expect(await kubectl.run('get', 'cm', 'settings', '-n', 'shop', '-o', 'yaml')).toMatch(
        /^apiVersion: v1\ndata:\n {2}color: blue\n {2}size: "12"\nkind: ConfigMap\n/,
      );
      const list = JSON.parse(await kubectl.run('get', 'cm', '-n', 'shop', '-o', 'json')) as { items: object[] };
      expect(list).toMatchObject({ apiVersion: 'v1', kind: 'List', items: [{ metadata: { name: 'settings' } }] });
      expect(await kubectl.read('secret/keys', '{.data.password}', '-n', 'shop')).toBe(
        Buffer.from('hunter2').toString('base64'),
      );
      const columns = 'custom-columns=NAME:.metadata.name,WANTED:.spec.replicas';
      expect(await kubectl.run('get', 'sts', '-n', 'shop', '-o', columns)).toMatch(/^NAME +WANTED\ndb +2\n$/);
      const template = 'go-template={{range .items}}{{.metadata.name}};{{end}}';
      expect(await kubectl.run('get', 'cj', '-n', 'shop', '-o', template)).toBe('report;');
    });

    it('in an order', async () => {
      const names = (await kubectl.run('get', 'ns', '--sort-by=.metadata.name', '-o', 'name')).trim().split('\n');
      expect(names).toEqual([...names].sort());
      expect(names).toContain('namespace/shop');
    });

    it('by the fields of objects, where they can be selected', async () => {
      const fields = 'metadata.name=keys,type=Opaque';
      expect(await kubectl.run('get', 'secrets', '-A', '--field-selector', fields, '-o', 'name')).toBe('secret/keys\n');
      const none = await kubectl.run('get', 'secrets', '-A', '--field-selector', 'type!=Opaque', '-o', 'name');
      expect(none).toBe('');
      expect(await kubectl.fails('get', 'pods', '--field-selector', 'foo=bar')).toBe(
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "foo=bar": field label not supported: foo\n',
      );
    });

    it('a long list in pieces', async () => {
      const many = [1, 2, 3, 4, 5, 6, 7].map((i) => configMap(`c${i}`, '{}', '{ many: "yes" }')).join('---\n');
      await kubectl.run('create', '-f', kubectl.file('many.yaml', many));
      const { out, err } = await kubectl.ends(['get', 'cm', '-l', 'many', '--chunk-size=2', '-v=6']);
      expect(out.match(/^c\d /gm)).toEqual(['c1 ', 'c2 ', 'c3 ', 'c4 ', 'c5 ', 'c6 ', 'c7 ']);
      expect(err.match(/[?&]limit=2\b/g)).toHaveLength(4);
      expect(err.match(/[?&]continue=/g)).toHaveLength(3);
    });

    it('and sees changes as they come', async () => {
      const watch = kubectl.start('get', 'cm', '-n', 'shop', '-w', '--output-watch-events');
      await watch.until(/^ADDED +settings .*\n/m);
      await kubectl.run('create', 'configmap', 'late', '-n', 'shop', '--from-literal=a=b');
      await watch.until(/^ADDED +late .*\n/m);
      await kubectl.run('delete', 'configmap', 'late', '-n', 'shop');
      await watch.until(/^DELETED +late .*\n/m);
      watch.stop();
      expect(watch.printed()).toMatch(/^ADDED +settings +\d.*\n(?:.*\n)*ADDED +late +1 .*\nDELETED +late +1 /m);
    });
  });

  it('describes', async () => {
    const deployment = await kubectl.run('describe', 'deploy', 'web', '-n', 'shop');
    expect(deployment).toMatch(/^Replicas: +3 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/m);
    expect(deployment).toMatch(/^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m);
    expect(deployment).toMatch(/^ +Image: +example\.com\/web:1\n +Port: +8080\/TCP$/m);
    const service = await kubectl.run('describe', 'svc', 'web', '-n', 'shop');
    expect(service).toMatch(/^Selector: +app=web$/m);
    expect(service).toMatch(/^Port: +http +80\/TCP\nTargetPort: +8080\/TCP$/m);
    expect(await kubectl.run('describe', 'ingress', 'web', '-n', 'shop')).toMatch(
      /shop\.example\.com +\n +\/ +web:80 /,
    );
    expect(await kubectl.run('describe', 'cj', 'report', '-n', 'shop')).toMatch(/^Schedule: +\*\/5 \* \* \* \*$/m);
  });

  it('replaces, by force too', async () => {
    const before = await kubectl.read('cm/settings', '{.metadata.uid}', '-n', 'shop');
    const red = kubectl.file('red.yaml', configMap('settings', '{ color: red }'));
    expect(await kubectl.run('replace', '-n', 'shop', '-f', red)).toBe('configmap/settings replaced\n');
    expect(await kubectl.read('cm/settings', '{.data} {.metadata.uid}', '-n', 'shop')).toBe(
      `{"color":"red"} ${before}`,
    );
    expect(await kubectl.run('replace', '--force', '-n', 'shop', '-f', red)).toMatch(
      /^configmap "settings" deleted.*\nconfigmap\/settings replaced\n$/,
    );
    expect(await kubectl.read('cm/settings', '{.metadata.uid}', '-n', 'shop')).not.toBe(before);
    const gone = kubectl.file('gone.yaml', configMap('never-there', '{}'));
    expect(await kubectl.fails('replace', '-f', gone)).toContain('configmaps "never-there" not found');
  });

  it('deletes one, all, and what is not there', async () => {
    expect(await kubectl.run('delete', 'role', 'reader', '-n', 'shop')).toContain('"reader" deleted');
    expect(await kubectl.run('delete', 'cm', '--all', '-n', 'shop')).toContain('"settings" deleted');
    expect(await kubectl.run('get', 'cm,role', '-n', 'shop', '-o', 'name')).toBe('');
    expect(await kubectl.run('delete', 'cm', '-l', 'many')).toMatch(/^(configmap "c\d" deleted.*\n){7}$/);
    expect(await kubectl.fails('get', 'cm', 'settings', '-n', 'shop')).toBe(
      'Error from server (NotFound): configmaps "settings" not found\n',
    );
    expect(await kubectl.fails('delete', 'cm', 'settings')).toContain('configmaps "settings" not found');
    expect(await kubectl.run('delete', 'cm', 'settings', '--ignore-not-found')).toBe('');
  });
});
