import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl, hasProgram } from './support/requirements.ts';

// Roles, tokens and certificates, as an administrator hands them out and as their holders use them.
describe.skipIf(!hasKubectl() || !hasProgram('openssl', 'version'))('kubectl and access', () => {
  let kubectl: Kubectl;
  /** Runs openssl in the data directory. */
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: kubectl.server.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  /** Makes a key and a certificate signing request in the data directory: `NAME.key`, `NAME.csr`. */
  const requestCertificate = (name: string, subject: string) => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
    openssl('req', '-new', ...key, '-subj', subject, '-out', `${name}.csr`);
  };
  /** Flags that select the server and these credentials, and none of the administrator's. */
  const as = (...credentials: string[]) => [
    '--kubeconfig=/dev/null',
    `--server=${kubectl.server.url}`,
    `--certificate-authority=${join(kubectl.server.folder, 'ca.crt')}`,
    ...credentials,
  ];
  const withToken = async (...args: string[]) =>
    as(`--token=${(await kubectl.run('create', 'token', ...args)).trim()}`);

  beforeAll(async () => {
    // The roles `admin`, `edit` and `view` are sums of others.
    kubectl = await startKubectl(['--controllers=clusterrole-aggregation-controller']);
    const commands = [
      'create serviceaccount robot',
      'create role reader --verb=get,list,watch --resource=pods,pods/log,deployments.apps',
      'create role one --verb=get --resource=configmaps --resource-name=settings',
      'create clusterrole metrics --verb=get --non-resource-url=/metrics,/logs/*',
      'create rolebinding readers --role=reader --user=jane --group=dev --serviceaccount=default:robot',
      'create rolebinding ones --role=one --user=jane',
      'create clusterrolebinding scrapers --clusterrole=metrics --group=dev',
      'create rolebinding admins --clusterrole=admin --user=ann',
    ];
    for (const command of commands) expect(await kubectl.run(...command.split(' '))).toMatch(/ created\n$/);
  });
  afterAll(() => kubectl.server.stop());

  describe('auth can-i', () => {
    const rows: readonly [question: string, answer: 'yes' | 'no'][] = [
      ['get pods', 'yes'],
      ['* *', 'yes'],
      ['get pods --as=jane', 'yes'],
      ['get pods/web --as=jane', 'yes'],
      ['get pods --subresource=log --as=jane', 'yes'],
      ['get pods --subresource=exec --as=jane', 'no'],
      ['delete pods --as=jane', 'no'],
      ['list deployments.apps --as=jane', 'yes'],
      ['get configmaps/settings --as=jane', 'yes'],
      ['get configmaps/other --as=jane', 'no'],
      ['get configmaps --as=jane', 'no'],
      ['get pods --as=jane --namespace=kube-system', 'no'],
      ['get pods --as=jane --all-namespaces', 'no'],
      ['get pods --as=bob', 'no'],
      ['get pods --as=bob --as-group=dev', 'yes'],
      ['get pods --as=system:serviceaccount:default:robot', 'yes'],
      ['get /metrics --as=bob --as-group=dev', 'yes'],
      ['get /logs/a --as=bob --as-group=dev', 'yes'],
      ['get /metrics --as=bob', 'no'],
      ['get /version --as=bob', 'yes'],
      ['impersonate users --as=jane', 'no'],
    ];
    it.each(rows)('%s: %s', async (question, answer) => {
      const { code, out } = await kubectl.ends(['auth', 'can-i', ...question.split(' ')]);
      expect([out.trim(), code]).toEqual([answer, answer === 'yes' ? 0 : 1]);
    });

    it('--list shows what roles and default roles grant', async () => {
      const jane = await kubectl.run('auth', 'can-i', '--list', '--as=jane');
      expect(jane).toMatch(/^pods\/log +\[\] +\[\] +\[get list watch\]$/m);
      expect(jane).toMatch(/^configmaps +\[\] +\[settings\] +\[get\]$/m);
      expect(jane).toMatch(/^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m);
      expect(jane).not.toContain('/metrics');
      const member = await kubectl.run('auth', 'can-i', '--list', '--as=bob', '--as-group=dev');
      expect(member).toMatch(/^ +\[\/metrics\] +\[\] +\[get\]$/m);
      expect(member).not.toContain('settings');
    });
  });

  describe('auth whoami', () => {
    it('shows the impersonated user', async () => {
      const out = await kubectl.run('auth', 'whoami', '--as=jane', '--as-group=dev', '--as-uid=7');
      expect(out).toMatch(/^Username +jane$/m);
      expect(out).toMatch(/^UID +7$/m);
      expect(out).toMatch(/^Groups +\[dev system:authenticated\]$/m);
    });
  });

  describe('auth reconcile', () => {
    const manifest = (verbs: string, user: string, roleKind = 'Role', role = 'rec') =>
      kubectl.file(
        'rec.yaml',
        `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: rec, namespace: default }
rules: [{ apiGroups: [""], resources: [pods], verbs: [${verbs}] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: rec, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ${roleKind}, name: ${role} }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: ${user} }]
`,
      );
    /** The report of kubectl: on stdout for each object, on stderr the reason. */
    const reconcile = async (file: string, ...flags: string[]) => {
      const { code, out, err } = await kubectl.ends(['auth', 'reconcile', '-f', file, ...flags]);
      expect([code, out.match(/ reconciled/g)?.length]).toEqual([0, 2]);
      return out + err;
    };
    const state = async () => [
      await kubectl.read('role/rec', '{.rules[*].verbs}'),
      await kubectl.read('rolebinding/rec', '{.roleRef.name} {.subjects[*].name}'),
    ];

    it('creates, adds what is missing, removes what is too much, and recreates for another role', async () => {
      const created = await reconcile(manifest('get,list', 'eve'));
      expect(created.match(/reconciliation required create/g)).toHaveLength(2);
      expect(await state()).toEqual(['["get","list"]', 'rec eve']);

      const other = manifest('watch', 'mallory');
      expect(await reconcile(other, '--dry-run=client')).toContain('reconciled (dry run)');
      expect(await state()).toEqual(['["get","list"]', 'rec eve']);

      await reconcile(other);
      expect(await state()).toEqual(['["get","list"] ["watch"]', 'rec eve mallory']);
      await reconcile(other, '--remove-extra-permissions', '--remove-extra-subjects');
      expect(await state()).toEqual(['["watch"]', 'rec mallory']);

      expect(await reconcile(manifest('watch', 'mallory', 'ClusterRole', 'view'))).toContain('required recreate');
      expect(await state()).toEqual(['["watch"]', 'view mallory']);
    });
  });

  describe('tables and descriptions', () => {
    it('of roles and bindings', async () => {
      expect(await kubectl.run('get', 'role', 'reader')).toMatch(
        /^NAME +CREATED AT\nreader +\d{4}-\d\d-\d\dT[\d:]+Z\n$/,
      );
      expect(await kubectl.run('get', 'rolebinding', 'readers', '-o', 'wide')).toMatch(
        /^NAME +ROLE +AGE +USERS +GROUPS +SERVICEACCOUNTS\nreaders +Role\/reader +\w+ +jane +dev +default\/robot\n$/,
      );
      expect(await kubectl.run('get', 'clusterrolebinding', 'scrapers')).toMatch(
        /^NAME +ROLE +AGE\nscrapers +ClusterRole\/metrics +\w+\n$/,
      );
      expect(await kubectl.run('describe', 'role', 'reader')).toMatch(
        /^ +deployments\.apps +\[\] +\[\] +\[get list watch\]$/m,
      );
      expect(await kubectl.run('describe', 'clusterrole', 'metrics')).toMatch(/^ +\[\/logs\/\*\] +\[\] +\[get\]$/m);
      expect(await kubectl.run('describe', 'rolebinding', 'readers')).toMatch(/^ +ServiceAccount +robot +default$/m);
      expect(await kubectl.run('describe', 'serviceaccount', 'robot')).toMatch(/^Namespace: +default$/m);
    });
  });

  describe('create token', () => {
    const claimsOf = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
        aud: string[];
        exp: number;
        iat: number;
      };

    it('is accepted as the service account, with what its roles grant', async () => {
      const robot = await withToken('robot', '--duration=1h');
      const who = await kubectl.run('auth', 'whoami', ...robot);
      expect(who).toMatch(/^Username +system:serviceaccount:default:robot$/m);
      expect(who).toMatch(/^Groups +\[system:serviceaccounts system:serviceaccounts:default system:authenticated\]$/m);
      await kubectl.run('get', 'pods', ...robot);
      expect(await kubectl.fails('get', 'configmaps', ...robot)).toBe(
        'Error from server (Forbidden): configmaps is forbidden: User "system:serviceaccount:default:robot" cannot list resource "configmaps" in API group "" in the namespace "default"\n',
      );
    });

    it('has the requested duration and audience; one for another audience is refused', async () => {
      const token = (await kubectl.run('create', 'token', 'robot', '--duration=20m', '--audience=vault')).trim();
      const { aud, exp, iat } = claimsOf(token);
      expect({ aud, seconds: exp - iat }).toEqual({ aud: ['vault'], seconds: 1200 });
      expect(await kubectl.fails('get', 'pods', ...as(`--token=${token}`))).toContain('(Unauthorized)');
      expect(await kubectl.fails('create', 'token', 'robot', '--duration=1s')).toContain(
        'may not specify a duration less than 10 minutes',
      );
    });

    it('can be bound to an object that exists', async () => {
      const bound = ['robot', '--bound-object-kind=Secret', '--bound-object-name=anchor'];
      expect(await kubectl.fails('create', 'token', ...bound)).toContain('secrets "anchor" not found');
      await kubectl.run('create', 'secret', 'generic', 'anchor');
      const robot = await withToken(...bound);
      // A token that has not been used is not in the token cache.
      const unused = await withToken(...bound);
      await kubectl.run('get', 'pods', ...robot);
      await kubectl.run('delete', 'secret', 'anchor');
      expect(await kubectl.fails('get', 'pods', ...unused)).toContain('(Unauthorized)');
    });

    it('is refused without the permission, and for an unknown account', async () => {
      expect(await kubectl.fails('create', 'token', 'robot', '--as=jane')).toContain(
        'cannot create resource "serviceaccounts/token" in API group "" in the namespace "default"',
      );
      expect(await kubectl.fails('create', 'token', 'nobody')).toContain('serviceaccounts "nobody" not found');
    });
  });

  describe('an ordinary user with a client certificate', () => {
    let ann: string[];
    beforeAll(async () => {
      requestCertificate('ann', '/O=dev/CN=ann');
      const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1'];
      openssl('x509', '-req', '-in', 'ann.csr', ...authority, '-out', 'ann.crt');
      const file = join(kubectl.server.folder, 'ann.kubeconfig');
      const config = (...args: string[]) => kubectl.run('config', ...args, `--kubeconfig=${file}`);
      const embedded = ['--embed-certs', '--certificate-authority=ca.crt'];
      await config('set-cluster', 'local', `--server=${kubectl.server.url}`, ...embedded);
      await config('set-credentials', 'ann', '--embed-certs', '--client-certificate=ann.crt', '--client-key=ann.key');
      await config('set-context', 'ann', '--cluster=local', '--user=ann');
      await config('use-context', 'ann');
      ann = [`--kubeconfig=${file}`];
    });

    it('is who the certificate says', async () => {
      const who = await kubectl.run('auth', 'whoami', ...ann);
      expect(who).toMatch(/^Username +ann$/m);
      expect(who).toMatch(/^Groups +\[dev system:authenticated\]$/m);
    });

    it('may do what bindings of the user and of the group grant', async () => {
      await kubectl.run('create', 'configmap', 'of-ann', ...ann);
      await kubectl.run('get', '--raw', '/metrics', ...ann);
      expect(await kubectl.fails('get', 'nodes', ...ann)).toBe(
        'Error from server (Forbidden): nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope\n',
      );
      expect(await kubectl.fails('get', 'pods', '--as=jane', ...ann)).toContain(
        'users "jane" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope',
      );
    });

    it('grants what the user holds, and nothing more', async () => {
      await kubectl.run('create', 'rolebinding', 'viewers', '--clusterrole=view', '--user=eve', ...ann);
      expect(await kubectl.run('auth', 'can-i', 'get', 'pods', '--as=eve')).toBe('yes\n');
      const refused =
        'user "ann" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n';
      expect(await kubectl.fails('create', 'role', 'big', '--verb=get,delete', '--resource=nodes,pods', ...ann)).toBe(
        `Error from server (Forbidden): roles.rbac.authorization.k8s.io "big" is forbidden: ${refused}{APIGroups:[""], Resources:["nodes"], Verbs:["get" "delete"]}\n`,
      );
      expect(
        await kubectl.fails('create', 'rolebinding', 'big', '--clusterrole=cluster-admin', '--user=ann', ...ann),
      ).toBe(
        `error: failed to create rolebinding: rolebindings.rbac.authorization.k8s.io "big" is forbidden: ${refused}{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}\n`,
      );
    });

    it('loses a permission with its binding', async () => {
      await kubectl.run('get', '--raw', '/metrics', ...ann);
      await kubectl.run('delete', 'clusterrolebinding', 'scrapers');
      expect(await kubectl.fails('get', '--raw', '/metrics', ...ann)).toContain('(Forbidden)');
    });
  });

  describe('certificate', () => {
    const file = (name: string) => {
      const request = readFileSync(join(kubectl.server.folder, 'asked.csr')).toString('base64');
      return kubectl.file(
        `${name}.yaml`,
        `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: ${name} }
spec: { request: ${request}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth] }
`,
      );
    };
    beforeAll(async () => {
      requestCertificate('asked', '/O=dev/CN=kim');
      for (const name of ['good', 'bad', 'open']) await kubectl.run('create', '-f', file(name));
    });

    it('approve and deny set a condition, which stays', async () => {
      expect(await kubectl.run('certificate', 'approve', 'good')).toMatch(/\/good approved\n$/);
      expect(await kubectl.run('certificate', 'deny', 'bad')).toMatch(/\/bad denied\n$/);
      expect(await kubectl.fails('certificate', 'deny', 'good')).toContain('"good" is already Approved');
      expect(await kubectl.read('csr/good', '{.spec.username} {.status.conditions[*].type} {..reason}')).toBe(
        'kubernetes-admin Approved KubectlApprove',
      );
      const table = await kubectl.run('get', 'csr');
      expect(table).toMatch(/^good +\w+ +kubernetes\.io\/kube-apiserver-client +kubernetes-admin +<none> +Approved$/m);
      expect(table).toMatch(/^bad .* Denied$/m);
      expect(table).toMatch(/^open .* Pending$/m);
      expect(await kubectl.run('describe', 'csr', 'good')).toMatch(/^ +Common Name: +kim$/m);
    });

    it('approve needs the permission for the signer too', async () => {
      await kubectl.run(
        'create',
        'clusterrole',
        'approver',
        '--verb=get,update',
        '--resource=certificatesigningrequests,certificatesigningrequests/approval',
      );
      await kubectl.run('create', 'clusterrolebinding', 'approvers', '--clusterrole=approver', '--user=jane');
      const approve = ['certificate', 'approve', 'open', '--as=jane'];
      expect(await kubectl.fails(...approve)).toContain(
        'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
      );
      // Signers are not a resource that discovery lists: `create clusterrole` does not know them.
      const signer = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: signer }
rules:
- apiGroups: [certificates.k8s.io]
  resources: [signers]
  resourceNames: [kubernetes.io/kube-apiserver-client]
  verbs: [approve]
`;
      await kubectl.run('create', '-f', kubectl.file('signer.yaml', signer));
      await kubectl.run('create', 'clusterrolebinding', 'signers', '--clusterrole=signer', '--user=jane');
      expect(await kubectl.run(...approve)).toMatch(/\/open approved\n$/);
    });
  });
});
