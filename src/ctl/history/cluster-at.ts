import { historyUnsupported, versionOf } from '../../client/index.ts';
import type { Cluster } from '../cluster/cluster.ts';

/**
 * A cluster as it was: its objects and lists are those of exactly this version.
 * @throws StatusError 501 when the server does not read former versions
 */
export const clusterAt = (cluster: Cluster, version: number): Cluster => ({
  ...cluster,
  send: async (request) => {
    const [path = '', text = ''] = request.url.split('?');
    const query = new URLSearchParams(text);
    // A continue token has the version of the first page.
    if (!query.has('continue')) {
      query.set('resourceVersion', String(version));
      query.set('resourceVersionMatch', 'Exact');
    }
    const body = await cluster.send({ ...request, url: `${path}?${String(query)}` });
    if (versionOf(body) > version) throw historyUnsupported();
    return body;
  },
});
