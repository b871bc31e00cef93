import { forbidden, on, specOf, textsOf } from './fields.ts';
import type { AdmissionPlugin } from './types.ts';

/** No service draws in the traffic of more outside addresses than it does already. */
export function denyExternalIps(): AdmissionPlugin {
  return {
    name: 'DenyServiceExternalIPs',
    handles: on(['CREATE', 'UPDATE'], 'services'),
    validate: (request) => {
      const known = new Set(textsOf(specOf(request.oldObject)['externalIPs']));
      if (textsOf(specOf(request.object)['externalIPs']).every((address) => known.has(address))) return;
      throw forbidden(request, 'Use of external IPs is denied by admission control');
    },
  };
}
