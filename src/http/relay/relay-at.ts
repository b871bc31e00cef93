import type { Aggregation, NonResourceHandler } from '../call.ts';
import type { RequestInfo } from '../request-info.ts';

/**
 * Relays the requests for a path to the extension API server that serves its group version: those for its discovery
 * document and for all below it. Undefined when this server serves the path.
 */
export function relayAt(
  { path, resource }: Pick<RequestInfo, 'path' | 'resource'>,
  { registrations, answer }: Aggregation,
): NonResourceHandler | undefined {
  const [, root, group = '', version = ''] =
    resource === undefined ? path.split('/', 4) : ['', 'apis', resource.group, resource.version];
  const remote = root === 'apis' ? registrations.remotes.get(`${version}.${group}`) : undefined;
  if (remote === undefined) return undefined;
  return (call) => {
    // A watch may take as long as the client wants, also before its response begins.
    if (call.info.verb === 'watch') {
      call.reservation.seats?.release();
      call.turns.goBehind?.();
    }
    return answer(call, remote);
  };
}
