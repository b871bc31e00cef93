import { afterEach, describe, expect, it } from 'vitest';
import { featureList, type JsonObject } from '../meta/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { silentLog } from './dependencies.ts';
import { createServer, type OrchServer } from './server.ts';

const open: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const allGates = Object.fromEntries(featureList.filter(([, { locked }]) => !locked).map(([name]) => [name, true]));

async function start(
  runtime: { [key: string]: boolean } = {},
  gates: { [name: string]: boolean } = {},
  store = openMemoryStore({ clock: drivenClock() }),
) {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (...told: unknown[]) => void errors.push(told) };
  const settings = {
    apiDomain: 'k8s.io',
    controllers: '-*',
    runtimeConfig: runtime,
    featureGates: gates,
  };
  const server = await createServer(settings, { log, store });
  open.push(server);
  const request = async (method: string, url: string, body?: JsonObject) => {
    const answer = await server.client.request({
      method,
      url,
      headers: {
        accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) as JsonObject };
  };
  return { request, errors, store };
}

type Started = Awaited<ReturnType<typeof start>>;

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly { resource: string }[] }[];
  }[];
}

/** The served resources, in the form of the tables below. */
async function served({ request }: Started): Promise<string[]> {
  const lists = await Promise.all(['/api', '/apis'].map((url) => request('GET', url)));
  return lists
    .flatMap(({ json }) => (json() as unknown as Discovery).items)
    .flatMap(({ metadata: { name }, versions }) =>
      versions.map(
        ({ version, resources }) =>
          `${name === undefined ? '' : `${name}/`}${version}: ${resources.map((one) => one.resource).join(' ')}`,
      ),
    );
}

/** The resources that release 1.33 of the reference server serves by default. */
const byDefault = `
v1: bindings componentstatuses configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services
apiregistration.k8s.io/v1: apiservices
apps/v1: controllerrevisions daemonsets deployments replicasets statefulsets
events.k8s.io/v1: events
authentication.k8s.io/v1: selfsubjectreviews tokenreviews
authorization.k8s.io/v1: localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews
autoscaling/v2: horizontalpodautoscalers
autoscaling/v1: horizontalpodautoscalers
batch/v1: cronjobs jobs
certificates.k8s.io/v1: certificatesigningrequests
networking.k8s.io/v1: ingressclasses ingresses ipaddresses networkpolicies servicecidrs
policy/v1: poddisruptionbudgets
rbac.authorization.k8s.io/v1: clusterrolebindings clusterroles rolebindings roles
storage.k8s.io/v1: csidrivers csinodes csistoragecapacities storageclasses volumeattachments
admissionregistration.k8s.io/v1: mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations
apiextensions.k8s.io/v1: customresourcedefinitions
scheduling.k8s.io/v1: priorityclasses
coordination.k8s.io/v1: leases
node.k8s.io/v1: runtimeclasses
discovery.k8s.io/v1: endpointslices
flowcontrol.apiserver.k8s.io/v1: flowschemas prioritylevelconfigurations`;

/** The additional resources with beta and alpha versions enabled; the gate that a resource needs follows it. */
const onDemand = `
admissionregistration.k8s.io/v1beta1: validatingadmissionpolicies validatingadmissionpolicybindings
authentication.k8s.io/v1beta1: selfsubjectreviews tokenreviews
authorization.k8s.io/v1beta1: localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews
certificates.k8s.io/v1beta1: clustertrustbundles(ClusterTrustBundle)
coordination.k8s.io/v1beta1: leasecandidates(CoordinatedLeaderElection)
networking.k8s.io/v1beta1: ipaddresses servicecidrs
resource.k8s.io/v1beta2: deviceclasses(DynamicResourceAllocation) resourceclaims(DynamicResourceAllocation) resourceclaimtemplates(DynamicResourceAllocation) resourceslices(DynamicResourceAllocation)
resource.k8s.io/v1beta1: deviceclasses(DynamicResourceAllocation) resourceclaims(DynamicResourceAllocation) resourceclaimtemplates(DynamicResourceAllocation) resourceslices(DynamicResourceAllocation)
storage.k8s.io/v1beta1: volumeattributesclasses
admissionregistration.k8s.io/v1alpha1: mutatingadmissionpolicies mutatingadmissionpolicybindings
authentication.k8s.io/v1alpha1: selfsubjectreviews
certificates.k8s.io/v1alpha1: clustertrustbundles(ClusterTrustBundle)
coordination.k8s.io/v1alpha2: leasecandidates(CoordinatedLeaderElection)
internal.apiserver.k8s.io/v1alpha1: storageversions
resource.k8s.io/v1alpha3: deviceclasses(DynamicResourceAllocation) devicetaintrules(DRADeviceTaints) resourceclaims(DynamicResourceAllocation) resourceclaimtemplates(DynamicResourceAllocation) resourceslices(DynamicResourceAllocation)
storage.k8s.io/v1alpha1: volumeattributesclasses
storagemigration.k8s.io/v1alpha1: storageversionmigrations(StorageVersionMigrator)`;

/** The additional resources of these versions where they are named: the reference server has removed them. */
const removed: { readonly [version: string]: readonly string[] } = {
  'admissionregistration.k8s.io/v1beta1': ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  'certificates.k8s.io/v1beta1': ['certificatesigningrequests'],
  'coordination.k8s.io/v1beta1': ['leases'],
  'networking.k8s.io/v1beta1': ['ingressclasses', 'ingresses'],
  'storage.k8s.io/v1beta1': ['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments'],
};

const lines = (table: string) => table.trim().split('\n');
/** The lines of a table, filtered by gate. */
const withGates = (table: string, isOn: boolean) =>
  lines(table).flatMap((line) => {
    const [place, ...resources] = line.split(' ');
    const kept = resources.filter((one) => isOn || !one.includes('(')).map((one) => one.replace(/\(.*/, ''));
    return kept.length === 0 ? [] : [[place, ...kept].join(' ')];
  });

describe('served versions', () => {
  it('are stable versions by default, in the order of the reference server', async () => {
    expect(await served(await start())).toEqual(lines(byDefault));
    // Feature gates alone enable no version.
    expect(await served(await start({}, allGates))).toEqual(lines(byDefault));
  });

  it('are all versions with api/all=true, each resource subject to its gate', async () => {
    const everything = [...lines(byDefault), ...withGates(onDemand, true)].toSorted();
    expect((await served(await start({ 'api/all': true }, allGates))).toSorted()).toEqual(everything);
    const ungated = [...lines(byDefault), ...withGates(onDemand, false)].toSorted();
    expect((await served(await start({ 'api/all': true }))).toSorted()).toEqual(ungated);
  });

  it.each(['beta', 'alpha'])('are those of the stage with api/%s=true', async (stage) => {
    const expected = withGates(onDemand, true).filter((line) => line.split(':')[0]?.includes(stage));
    const all = await served(await start({ [`api/${stage}`]: true }, allGates));
    expect(all.toSorted()).toEqual([...lines(byDefault), ...expected].toSorted());
  });

  it.each(withGates(onDemand, true).map((line) => line.split(': ') as [string, string]))(
    'are switched on by %s alone, and resource by resource',
    async (version, resources) => {
      const added = async (runtime: { [key: string]: boolean }) => {
        const all = await served(await start(runtime, allGates));
        return all.filter((line) => !lines(byDefault).includes(line));
      };
      const expected = [...resources.split(' '), ...(removed[version] ?? [])].toSorted();
      expect(await added({ [version]: true })).toEqual([`${version}: ${expected.join(' ')}`]);
      const [first] = resources.split(' ');
      expect(await added({ [`${version}/${first}`]: true })).toEqual([`${version}: ${first}`]);
    },
  );
});

describe('a version that is not served', () => {
  it.each([
    ['resource.k8s.io/v1', '404 page not found'],
    ['resource.k8s.io/v1beta1', '404 page not found'],
    ['storage.k8s.io/v1beta1', 'the server could not find the requested resource'],
    ['batch/v1beta1', 'the server could not find the requested resource'],
  ])('answers 404 and logs nothing: %s', async (version, message) => {
    const { request, errors } = await start();
    const { status, text } = await request('GET', `/apis/${version}/namespaces/default/things`);
    expect(status).toBe(404);
    expect(text).toContain(message);
    expect(errors).toEqual([]);
  });

  it('does not change its stored objects', async () => {
    const url = '/apis/storage.k8s.io/v1beta1/volumeattributesclasses';
    const on = await start({ 'storage.k8s.io/v1beta1': true });
    const made = await on.request('POST', url, { metadata: { name: 'gold' }, driverName: 'd', parameters: { a: 'b' } });
    expect(made.status, made.text).toBe(201);
    const off = await start({}, {}, on.store);
    expect((await off.request('GET', `${url}/gold`)).status).toBe(404);
    const again = await start({ 'storage.k8s.io/v1alpha1': true }, {}, on.store);
    const shown = await again.request('GET', `${url.replace('beta', 'alpha')}/gold`);
    expect(shown.json()).toEqual({ ...made.json(), apiVersion: 'storage.k8s.io/v1alpha1' });
    expect((await on.request('GET', `${url}/gold`)).text).toBe(made.text);
  });
});

describe('device resources in a server', () => {
  const on = { 'resource.k8s.io/v1beta1': true, 'resource.k8s.io/v1beta2': true };
  const gates = { DynamicResourceAllocation: true };
  const claims = (version: string) => `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`;
  const claim = (...requests: JsonObject[]) => ({ metadata: { name: 'c' }, spec: { devices: { requests } } });

  it('are stored in v1beta1 and converted to the requested version', async () => {
    const { request } = await start(on, gates);
    const made = await request('POST', claims('v1beta2'), claim({ name: 'r', exactly: { deviceClassName: 'gpu' } }));
    expect(made.status, made.text).toBe(201);
    const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 };
    expect(made.json()['spec']).toEqual({ devices: { requests: [{ name: 'r', exactly }] } });
    const older = (await request('GET', `${claims('v1beta1')}/c`)).json();
    expect(older['spec']).toEqual({ devices: { requests: [{ name: 'r', ...exactly }] } });
    const hash = async (version: string) => {
      const { resources } = (await request('GET', `/apis/resource.k8s.io/${version}`)).json() as unknown as {
        resources: { name: string; storageVersionHash?: string }[];
      };
      return resources.find(({ name }) => name === 'resourceclaims')?.storageVersionHash;
    };
    expect(await hash('v1beta2')).toBe(await hash('v1beta1'));
  });

  it('are validated with the field names of v1beta2', async () => {
    const { request } = await start(on, gates);
    const refused = await request('POST', claims('v1beta1'), claim({ name: 'r', deviceClassName: 'A' }));
    expect(refused.status).toBe(422);
    expect(refused.json()).toMatchObject({
      details: { causes: [{ field: 'spec.devices.requests[0].exactly.deviceClassName' }] },
    });
  });

  it('drop fields of disabled features', async () => {
    const sent = claim({ name: 'r', deviceClassName: 'gpu', adminAccess: true });
    const off = await start(on, gates);
    expect((await off.request('POST', claims('v1beta1'), sent)).text).not.toContain('adminAccess');
    const kept = await start(on, { ...gates, DRAAdminAccess: true });
    expect((await kept.request('POST', claims('v1beta1'), sent)).json()).toMatchObject({
      code: 422,
      details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec.devices.requests[0].adminAccess' }] },
    });
    const place = '/api/v1/namespaces/default';
    const namespace = (await kept.request('GET', place)).json() as { metadata: { labels: JsonObject } };
    namespace.metadata.labels['resource.kubernetes.io/admin-access'] = 'true';
    await kept.request('PUT', place, namespace);
    expect((await kept.request('POST', claims('v1beta1'), sent)).text).toContain('"adminAccess":true');
  });

  it('are in OpenAPI', async () => {
    const { request } = await start(on, gates);
    const { status, json } = await request('GET', '/openapi/v3/apis/resource.k8s.io/v1beta2');
    expect(status).toBe(200);
    expect(JSON.stringify(json())).toContain('io.k8s.api.resource.v1beta2.ExactDeviceRequest');
  });
});

describe('reviews of earlier versions', () => {
  const group = (name: string, version: string) => `/apis/${name}.k8s.io/${version}`;
  const on = {
    'authentication.k8s.io/v1beta1': true,
    'authentication.k8s.io/v1alpha1': true,
    'authorization.k8s.io/v1beta1': true,
  };
  const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };

  it('name the groups of a subject in the field group', async () => {
    const { request, errors } = await start(on);
    const spec = { user: 'x', group: ['system:masters'], resourceAttributes };
    for (const path of ['subjectaccessreviews', 'namespaces/default/localsubjectaccessreviews']) {
      const { status, json, text, headers } = await request('POST', `${group('authorization', 'v1beta1')}/${path}`, {
        spec,
      });
      expect(status, text).toBe(201);
      expect(json()).toMatchObject({ apiVersion: 'authorization.k8s.io/v1beta1', spec, status: { allowed: true } });
      expect(json()['spec']).toEqual(spec);
      expect(text).toContain('"f:group":');
      expect(headers['warning']).toMatch(/AccessReview is deprecated in v1.19\+, unavailable in v1.22\+; use authoriz/);
      const refused = await request('POST', `${group('authorization', 'v1')}/${path}?fieldValidation=Strict`, { spec });
      expect([refused.status, refused.text.includes('unknown field \\"spec.group\\"')]).toEqual([400, true]);
    }
    expect(errors).toEqual([]);
  });

  it.each<[string, string, JsonObject, JsonObject]>([
    ['authorization', 'v1beta1/selfsubjectaccessreviews', { resourceAttributes }, { allowed: true }],
    ['authorization', 'v1beta1/selfsubjectrulesreviews', { namespace: 'default' }, { incomplete: false }],
    ['authentication', 'v1beta1/tokenreviews', { token: 'x' }, { error: 'invalid bearer token' }],
    ['authentication', 'v1beta1/selfsubjectreviews', {}, { userInfo: expect.anything() as never }],
    ['authentication', 'v1alpha1/selfsubjectreviews', {}, { userInfo: expect.anything() as never }],
  ])('are answered in their version: %s %s', async (name, path, spec, expected) => {
    const { request, errors } = await start(on);
    const body = path.endsWith('selfsubjectreviews') ? {} : { spec };
    const { status, json, text } = await request('POST', group(name, path), body);
    expect(status, text).toBe(201);
    expect(json()).toMatchObject({ apiVersion: `${name}.k8s.io/${path.split('/')[0]}`, status: expected });
    expect(errors).toEqual([]);
  });
});
