import { Service } from '../../types/core-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin } from '../types.ts';

/** A service may keep or remove external IPs, but not add one. */
export function denyExternalIps(): AdmissionPlugin {
  return {
    name: 'DenyServiceExternalIPs',
    handles: on(['CREATE', 'UPDATE'], 'services'),
    validate: (request) => {
      const { object, oldObject } = typedRequest(Service, request);
      const known = new Set(oldObject?.spec?.externalIPs);
      if ((object?.spec?.externalIPs ?? []).every((address) => known.has(address))) return;
      throw forbidden(request, 'Use of external IPs is denied by admission control');
    },
  };
}
