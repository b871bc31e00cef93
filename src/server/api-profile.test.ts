import { afterEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import type { OrchServer } from './server.ts';
import type { ServerOptions } from './settings/server-options.ts';
import { requestServer } from './testing/request-server.ts';

const open: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

interface Line {
  readonly level: string;
  readonly text: string;
  readonly fields: { readonly [name: string]: unknown };
}

async function start(options: ServerOptions) {
  const lines: Line[] = [];
  const record = (level: string) => (text: string, fields: Line['fields']) => void lines.push({ level, text, fields });
  const log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
  const store = openMemoryStore({ clock: drivenClock() });
  const { server, request } = await requestServer(options, { log, store });
  open.push(server);
  const names = async (url: string) => {
    const { items } = JSON.parse((await request('GET', url)).text) as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name);
  };
  return { server, lines, request, names };
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly { resource: string }[] }[];
  }[];
}

describe('the API profile generic', () => {
  // The groups of the generic control plane of the reference server (KEP-4080), and APIServices.
  const served = `
v1: configmaps events namespaces resourcequotas secrets serviceaccounts
apiregistration.k8s.io/v1: apiservices
events.k8s.io/v1: events
authentication.k8s.io/v1: selfsubjectreviews tokenreviews
authorization.k8s.io/v1: localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews
certificates.k8s.io/v1: certificatesigningrequests
rbac.authorization.k8s.io/v1: clusterrolebindings clusterroles rolebindings roles
admissionregistration.k8s.io/v1: mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations
apiextensions.k8s.io/v1: customresourcedefinitions
coordination.k8s.io/v1: leases
flowcontrol.apiserver.k8s.io/v1: flowschemas prioritylevelconfigurations`;

  it('serves what a control plane of one’s own needs', async () => {
    const { request } = await start({ apiProfile: 'generic', controllers: '-*' });
    const lists = await Promise.all(['/api', '/apis'].map(async (url) => (await request('GET', url)).text));
    const shown = lists
      .flatMap((text) => (JSON.parse(text) as Discovery).items)
      .flatMap(({ metadata: { name }, versions }) =>
        versions.map(
          ({ version, resources }) =>
            `${name === undefined ? '' : `${name}/`}${version}: ${resources.map((one) => one.resource).join(' ')}`,
        ),
      );
    expect(shown).toEqual(served.trim().split('\n'));
    for (const url of ['/api/v1/pods', '/api/v1/nodes', '/apis/apps/v1/deployments']) {
      expect((await request('GET', url)).status, url).toBe(404);
    }
    expect((await request('GET', '/openapi/v3')).text).not.toContain('apis/apps');
  });

  it('runs with its controllers, and logs no errors', async () => {
    const { server, lines, request, names } = await start({ apiProfile: 'generic' });
    await server.settled();
    expect((await names('/api/v1/namespaces')).toSorted()).toEqual(['default', 'kube-public', 'kube-system']);
    const path = '/api/v1/namespaces/default';
    expect((await request('GET', `${path}/serviceaccounts/default`)).status).toBe(200);
    const quota = { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '1' } } };
    expect((await request('POST', `${path}/resourcequotas`, quota)).status).toBe(201);
    await server.settled();
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    const roles = await names('/apis/rbac.authorization.k8s.io/v1/clusterroles');
    expect(roles).toContain('system:controller:namespace-controller');
    expect(roles).not.toContain('system:controller:deployment-controller');
    expect(roles).not.toContain('system:node');
  });

  it('says at the start what does not run', async () => {
    const { lines } = await start({ apiProfile: 'generic' });
    const line = lines.find(({ text }) => text.includes('are not served'));
    expect(line?.fields['controllers']).toContain('deployment-controller');
    expect(line?.fields['controllers']).not.toContain('namespace-controller');
    expect(line?.fields['plugins']).toContain('LimitRanger');
    expect(line?.fields['plugins']).not.toContain('ResourceQuota');
  });

  it('has no fake nodes', async () => {
    await expect(start({ apiProfile: 'generic', fakeNodes: 1 })).rejects.toThrow('fakeNodes needs apiProfile full');
  });
});

describe('a single resource', () => {
  it('of any group is turned off, with the controllers that need it', async () => {
    const runtimeConfig = { 'apps/v1/deployments': false, 'v1/limitranges': false };
    const { lines, request } = await start({ runtimeConfig });
    expect((await request('GET', '/apis/apps/v1/deployments')).status).toBe(404);
    expect((await request('GET', '/api/v1/limitranges')).status).toBe(404);
    expect((await request('GET', '/apis/apps/v1/replicasets')).status).toBe(200);
    expect(lines.find(({ text }) => text.includes('are not served'))?.fields).toEqual({
      resources: ['limitranges', 'deployments.apps'],
      controllers: ['deployment-controller'],
      plugins: ['LimitRanger'],
    });
  });

  it('is not mentioned when all are served', async () => {
    const { lines } = await start({});
    expect(lines.filter(({ text }) => text.includes('are not served'))).toEqual([]);
  });
});
