import { annotationOf, jsonCopy, type Names, pathSegmentName, type Random } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Pod, type PodSpec, ServiceAccount, type Volume } from '../../types/core-v1.ts';
import { forbidden, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { referencesSecret, secretsOfContainer } from './pod-references.ts';

type Account = ObjectOf<typeof ServiceAccount>;
type Initializer = Pick<PluginInitializer, 'names' | 'random' | 'objects'>;

/**
 * Sets the service account of a pod (`default` if it names none), which must exist; mounts a token volume unless the pod
 * or the account disables automounting; copies the image pull secrets of the account if the pod has none.
 */
export function serviceAccount({ names, random, objects }: Initializer): AdmissionPlugin {
  const findAccount = async (
    request: AdmissionRequest,
    { serviceAccountName: name = '' }: PodSpec,
  ): Promise<Account> => {
    const { namespace } = request;
    const wrong = pathSegmentName(name);
    const found = wrong.length === 0 ? await objects.get(ServiceAccount, namespace, name) : undefined;
    if (found !== undefined) return found;
    const why =
      wrong.length === 0
        ? `serviceaccount ${JSON.stringify(name)} not found`
        : `invalid resource name ${JSON.stringify(name)}: [${wrong.join(' ')}]`;
    throw forbidden(request, `error looking up service account ${namespace}/${name}: ${why}`);
  };
  /** A mirror pod was created by a kubelet for a static pod. */
  const isMirrorPod = (pod: ObjectOf<typeof Pod>) => annotationOf(pod, `${names.labels}/config.mirror`) !== undefined;
  const check = async (request: AdmissionRequest): Promise<void> => {
    const { object: pod, operation } = typedRequest(Pod, request);
    if (pod === undefined) return;
    const { spec = {} } = pod;
    if (operation === 'CREATE' && isMirrorPod(pod)) return checkMirrorPod(request, spec);
    if (!spec.serviceAccountName) {
      const { namespace, name } = request;
      throw forbidden(request, `no service account specified for pod ${namespace}/${name}`);
    }
    const account = await findAccount(request, spec);
    const restricted = annotationOf(account, `${names.labels}/enforce-mountable-secrets`) ?? '';
    if (!/^(1|t|T|true|TRUE|True)$/.test(restricted)) return;
    const why = unreferencedSecret(spec, account, operation === 'CREATE');
    if (why !== undefined) throw forbidden(request, why);
  };
  return {
    name: 'ServiceAccount',
    handles: ({ resource, operation, subresource }) =>
      resource === 'pods' &&
      (operation === 'CREATE' ? subresource === '' : operation === 'UPDATE' && subresource === 'ephemeralcontainers'),
    mutate: async (request) => {
      const { object: pod, operation } = typedRequest(Pod, request);
      if (pod === undefined || operation !== 'CREATE') return;
      if (isMirrorPod(pod)) return check(request);
      const { spec = {} } = pod;
      spec.serviceAccountName ||= 'default';
      spec.serviceAccount = spec.serviceAccountName;
      const account = await findAccount(request, spec);
      if (shouldMountToken(account, spec)) mountToken(spec, names, random);
      const { imagePullSecrets = [] } = account;
      if ((spec.imagePullSecrets ?? []).length === 0 && imagePullSecrets.length > 0) {
        spec.imagePullSecrets = jsonCopy(imagePullSecrets);
      }
      // A violation of the account's restrictions is reported before the pod is validated.
      return check(request);
    },
    validate: check,
  };
}

/** `automountServiceAccountToken` of the pod takes precedence over that of the account; the default is true. */
function shouldMountToken(account: Account, spec: PodSpec): boolean {
  return (spec.automountServiceAccountToken ?? account.automountServiceAccountToken) !== false;
}

const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

function mountToken(spec: PodSpec, names: Names, random: Random): void {
  const mountPath = `/var/run/secrets/${names.labels}/serviceaccount`;
  const prefix = `${names.tokenVolume}-`;
  const existing = spec.volumes?.find(({ name = '' }) => name.startsWith(prefix));
  const letter = () => nameLetters[random.integer(nameLetters.length)] ?? '';
  const name = existing?.name || prefix + letter() + letter() + letter() + letter() + letter();
  let needed = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const { volumeMounts = [] } = container;
    if (volumeMounts.some((mount) => mount.mountPath === mountPath)) continue;
    container.volumeMounts = [...volumeMounts, { name, readOnly: true, mountPath }];
    needed = true;
  }
  if (needed && existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, names)];
}

/** The projected volume with the token, the root CA and the namespace. */
const tokenVolume = (name: string, { rootAuthorityMap }: Names): Volume => ({
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
function checkMirrorPod(request: AdmissionRequest, spec: PodSpec): void {
  if (spec.serviceAccountName) {
    throw forbidden(request, 'a mirror pod may not reference service accounts');
  }
  if (referencesSecret(spec)) throw forbidden(request, 'a mirror pod may not reference secrets');
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) {
    throw forbidden(request, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

/** The first secret of the pod that an account with enforced mountable secrets does not list; undefined if all are listed. */
function unreferencedSecret(spec: PodSpec, account: Account, whole: boolean): string | undefined {
  const own = new Set(account.secrets?.map(({ name = '' }) => name));
  const refused = (what: string, word = 'secret') =>
    `${what} is not allowed because service account ${account.metadata.name ?? ''} does not reference that ${word}`;
  const kinds = [
    { label: 'init container', containers: whole ? spec.initContainers : undefined },
    { label: 'container', containers: whole ? spec.containers : undefined },
    { label: 'ephemeral container', containers: whole ? undefined : spec.ephemeralContainers },
  ];
  if (whole) {
    for (const { secret } of spec.volumes ?? []) {
      const name = secret?.secretName ?? '';
      if (secret !== undefined && !own.has(name)) return refused(`volume with secret.secretName="${name}"`);
    }
  }
  for (const { label, containers } of kinds) {
    for (const container of containers ?? []) {
      const unreferenced = secretsOfContainer(container).find(({ secret }) => !own.has(secret));
      if (unreferenced === undefined) continue;
      const { how, secret } = unreferenced;
      return refused(`${label} ${container.name ?? ''} with ${how} referencing secret.secretName="${secret}"`);
    }
  }
  if (!whole) return undefined;
  const pulling = new Set(account.imagePullSecrets?.map(({ name = '' }) => name));
  const used = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const index = used.findIndex((name) => !pulling.has(name));
  return index < 0 ? undefined : refused(`imagePullSecrets[${index}].name="${used[index]}"`, 'imagePullSecret');
}
