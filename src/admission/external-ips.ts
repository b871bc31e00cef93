import { forbidden, on, specOf, textsOf } from './fields.ts';
import type { AdmissionPlugin } from './types.ts';

/** A service may keep or remove external IPs, but not add one. */
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
