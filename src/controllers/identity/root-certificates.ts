import { isStatus, type Names, StatusError } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller, ControllerContext } from '../types.ts';

/** Publishes the certificates with which pods verify the server, in a config map of every namespace not being deleted. */
export const rootCertificatePublisher: Controller = {
  name: 'root-ca-certificate-publisher-controller',
  needs: [kinds.namespaces, kinds.configMaps],
  account: 'root-ca-cert-publisher',
  start(context) {
    const { client, informers, names, settings, queue } = context;
    if (settings.rootCertificates() === undefined) return;
    const name = names.rootAuthorityMap;
    const namespaces = informers.of(kinds.namespaces);
    const maps = informers.of(kinds.configMaps, { fieldSelector: `metadata.name=${name}` });
    const annotation = `${names.labels}/description`;
    const work = queue('root_ca_cert_publisher', async (namespace) => {
      const namespaceObject = namespaces.get('', namespace);
      if (namespaceObject === undefined || namespaceObject.metadata.deletionTimestamp !== undefined) return;
      const data = { 'ca.crt': settings.rootCertificates() ?? '' };
      const map = maps.get(namespace, name);
      const { annotations = {} } = map?.metadata ?? {};
      const described = { ...annotations, [annotation]: description(names) };
      if (map === undefined) {
        const metadata = { name, namespace, annotations: described };
        await client.kind(kinds.configMaps).create({ metadata, data }).catch(ignoreGoneNamespace);
      } else if (!isExactly(map.data, data) || (annotations[annotation] ?? '') === '') {
        const metadata = { ...map.metadata, annotations: described };
        await client.kind(kinds.configMaps).update({ ...map, metadata, data });
      }
    });
    namespaces.onChange((namespace) => {
      if (namespace !== undefined) work.add(namespace.metadata.name ?? '');
    });
    maps.onChange((map, old) => {
      const { namespace = '' } = (map ?? old)?.metadata ?? {};
      work.add(namespace);
    });
    onNewCertificates(context, () => {
      for (const { metadata } of namespaces.list()) work.add(metadata.name ?? '');
    });
  },
};

/** How often the certificates are looked at again (ms). */
const reloadMs = 60_000;

/** Runs a task whenever the certificates with which pods verify the server change. */
export function onNewCertificates({ every, settings }: ControllerContext, task: () => void): void {
  let last = settings.rootCertificates();
  every(reloadMs, () => {
    const current = settings.rootCertificates();
    if (current !== last) task();
    last = current;
  });
}

const description = ({ server, product }: Names): string =>
  `Contains a CA bundle that can be used to verify the ${server} when using internal endpoints such as the internal service IP or ${product}.default.svc. No other usage is guaranteed across distributions of ${product.charAt(0).toUpperCase()}${product.slice(1)} clusters.`;

const isExactly = (
  annotations: { readonly [key: string]: string } | undefined,
  data: { readonly 'ca.crt': string },
): boolean =>
  annotations !== undefined && Object.keys(annotations).length === 1 && annotations['ca.crt'] === data['ca.crt'];

/** @throws the error, unless it says that the namespace does not exist or takes no new objects */
function ignoreGoneNamespace(error: unknown): void {
  const isTerminating =
    error instanceof StatusError && error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating');
  if (!isTerminating && !isStatus(error, 404)) throw error;
}
