import { type ApiObject, type Json, type JsonObject, jsonCopy, type Names, type Random } from '../meta/index.ts';
import {
  allContainersOf,
  annotationOf,
  containersOf,
  fieldsOf,
  forbidden,
  initContainersOf,
  isMirrorPod,
  listAt,
  objectsOf,
  specOf,
  textOf,
} from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'random' | 'objects'>;

/**
 * Sets the service account of a pod (`default` if it names none), which must exist; mounts a token volume unless the pod
 * or the account disables automounting; copies the image pull secrets of the account if the pod has none.
 */
export function serviceAccount({ names, random, objects }: Initializer): AdmissionPlugin {
  const findAccount = async (request: AdmissionRequest, pod: ApiObject): Promise<ApiObject> => {
    const { namespace } = request;
    const name = textOf(specOf(pod)['serviceAccountName']);
    const found = await objects.get('serviceaccounts', namespace, name);
    if (found !== undefined) return found;
    const missing = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
    throw forbidden(request, missing);
  };
  const check = async (request: AdmissionRequest): Promise<void> => {
    const { object: pod, operation } = request;
    if (pod === undefined) return;
    if (operation === 'CREATE' && isMirrorPod(pod, names)) return checkMirrorPod(request, specOf(pod));
    if (textOf(specOf(pod)['serviceAccountName']) === '') {
      const { namespace, name } = request;
      throw forbidden(request, `no service account specified for pod ${namespace}/${name}`);
    }
    const account = await findAccount(request, pod);
    const restricted = annotationOf(account, `${names.labels}/enforce-mountable-secrets`) ?? '';
    if (!/^(1|t|T|true|TRUE|True)$/.test(restricted)) return;
    const why = unreferencedSecret(specOf(pod), account, operation === 'CREATE');
    if (why !== undefined) throw forbidden(request, why);
  };
  return {
    name: 'ServiceAccount',
    handles: ({ resource, operation, subresource }) =>
      resource === 'pods' &&
      (operation === 'CREATE' ? subresource === '' : operation === 'UPDATE' && subresource === 'ephemeralcontainers'),
    mutate: async (request) => {
      const { object: pod, operation } = request;
      if (pod === undefined || operation !== 'CREATE') return;
      if (isMirrorPod(pod, names)) return check(request);
      const spec = specOf(pod);
      if (textOf(spec['serviceAccountName']) === '') spec['serviceAccountName'] = 'default';
      spec['serviceAccount'] = spec['serviceAccountName'] ?? 'default';
      const account = await findAccount(request, pod);
      if (shouldMountToken(account, spec)) mountToken(spec, names, random);
      const secrets = objectsOf(account['imagePullSecrets']);
      if (objectsOf(spec['imagePullSecrets']).length === 0 && secrets.length > 0) {
        spec['imagePullSecrets'] = jsonCopy(secrets);
      }
      // A violation of the account's restrictions is reported before the pod is validated.
      return check(request);
    },
    validate: check,
  };
}

/** `automountServiceAccountToken` of the pod takes precedence over that of the account; the default is true. */
function shouldMountToken(account: ApiObject, spec: JsonObject): boolean {
  return (spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken']) !== false;
}

const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

function mountToken(spec: JsonObject, names: Names, random: Random): void {
  const mountPath = `/var/run/secrets/${names.labels}/serviceaccount`;
  const prefix = `${names.tokenVolume}-`;
  const existing = objectsOf(spec['volumes']).find(({ name }) => textOf(name).startsWith(prefix));
  const letter = () => nameLetters[random.integer(nameLetters.length)] ?? '';
  const name = textOf(existing?.['name']) || prefix + letter() + letter() + letter() + letter() + letter();
  let needed = false;
  for (const container of [...initContainersOf(spec), ...containersOf(spec)]) {
    if (objectsOf(container['volumeMounts']).some((mount) => mount['mountPath'] === mountPath)) continue;
    listAt(container, 'volumeMounts').push({ name, readOnly: true, mountPath });
    needed = true;
  }
  if (needed && existing === undefined) listAt(spec, 'volumes').push(tokenVolume(name, names));
}

/** The projected volume with the token, the root CA and the namespace. */
const tokenVolume = (name: string, { rootAuthorityMap }: Names): JsonObject => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: rootAuthorityMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});

/** A mirror pod must not reference service accounts, secrets or tokens. */
function checkMirrorPod(request: AdmissionRequest, spec: JsonObject): void {
  if (textOf(spec['serviceAccountName']) !== '') {
    throw forbidden(request, 'a mirror pod may not reference service accounts');
  }
  const volumes = objectsOf(spec['volumes']);
  const sources = volumes.flatMap((volume) => objectsOf(fieldsOf(volume['projected'])['sources']));
  const referencesSecret =
    volumes.some((volume) => Object.values(volume).some(namesSecret)) ||
    sources.some((source) => source['secret'] !== undefined) ||
    objectsOf(spec['imagePullSecrets']).length > 0 ||
    allContainersOf(spec).some((container) => secretsOfContainer(container).length > 0);
  if (referencesSecret) throw forbidden(request, 'a mirror pod may not reference secrets');
  if (sources.some((source) => source['serviceAccountToken'] !== undefined)) {
    throw forbidden(request, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

/** Fields of volume sources that reference secrets. */
const secretFields = ['secretName', 'secretRef', 'nodePublishSecretRef'];
const namesSecret = (source: Json): boolean => secretFields.some((field) => fieldsOf(source)[field] !== undefined);

/** The secrets that the environment of a container references, and how, as messages name it. */
function secretsOfContainer(container: JsonObject): { readonly secret: string; readonly how: string }[] {
  const variables = objectsOf(container['env']).flatMap(({ name, valueFrom }) => {
    const secret = fieldsOf(fieldsOf(valueFrom)['secretKeyRef'])['name'];
    return secret === undefined ? [] : [{ secret: textOf(secret), how: `envVar ${textOf(name)}` }];
  });
  const whole = objectsOf(container['envFrom']).flatMap(({ secretRef }) =>
    secretRef === undefined ? [] : [{ secret: textOf(fieldsOf(secretRef)['name']), how: 'envFrom' }],
  );
  return [...variables, ...whole];
}

/** The first secret of the pod that an account with enforced mountable secrets does not list; undefined if all are listed. */
function unreferencedSecret(spec: JsonObject, account: ApiObject, whole: boolean): string | undefined {
  const own = new Set(objectsOf(account['secrets']).map(({ name }) => textOf(name)));
  const refused = (what: string, word = 'secret') =>
    `${what} is not allowed because service account ${account.metadata.name ?? ''} does not reference that ${word}`;
  const kinds = [
    { label: 'init container', containers: whole ? initContainersOf(spec) : [] },
    { label: 'container', containers: whole ? containersOf(spec) : [] },
    { label: 'ephemeral container', containers: whole ? [] : objectsOf(spec['ephemeralContainers']) },
  ];
  if (whole) {
    for (const { secret } of objectsOf(spec['volumes'])) {
      const name = textOf(fieldsOf(secret)['secretName']);
      if (secret !== undefined && !own.has(name)) return refused(`volume with secret.secretName="${name}"`);
    }
  }
  for (const { label, containers } of kinds) {
    for (const container of containers) {
      const unreferenced = secretsOfContainer(container).find(({ secret }) => !own.has(secret));
      if (unreferenced === undefined) continue;
      const { how, secret } = unreferenced;
      return refused(`${label} ${textOf(container['name'])} with ${how} referencing secret.secretName="${secret}"`);
    }
  }
  if (!whole) return undefined;
  const pulling = new Set(objectsOf(account['imagePullSecrets']).map(({ name }) => textOf(name)));
  const used = objectsOf(spec['imagePullSecrets']).map(({ name }) => textOf(name));
  const index = used.findIndex((name) => !pulling.has(name));
  return index < 0 ? undefined : refused(`imagePullSecrets[${index}].name="${used[index]}"`, 'imagePullSecret');
}
