/** The types of networking/v1beta1: IPAddress and ServiceCIDR of v1. */
import { inVersion } from './in-version.ts';
import * as v1 from './networking-v1.ts';

const v1beta1 = inVersion('networking/v1beta1');

// IPAddress

export const ParentReference = v1beta1(v1.ParentReference);
export const IPAddressSpec = v1beta1(v1.IPAddressSpec);
export const IPAddress = v1beta1(v1.IPAddress);

// ServiceCIDR

export const ServiceCIDRSpec = v1beta1(v1.ServiceCIDRSpec);
export const ServiceCIDRStatus = v1beta1(v1.ServiceCIDRStatus);
export const ServiceCIDR = v1beta1(v1.ServiceCIDR);
