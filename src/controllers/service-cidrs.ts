import type { Informer } from '../client/index.ts';
import { formatTime, type IpNumber, type Names, parseNetwork, parseTime, readIp } from '../meta/index.ts';
import type { IPAddress, ServiceCIDR } from '../types/networking-v1.ts';
import { apiVersionOf, type Named } from './shared/kind.ts';
import * as kinds from './shared/kinds.ts';
import type { Controller, ControllerContext } from './types.ts';

type Range = ServiceCIDR & Named;
type Address = IPAddress & Named;

/** The field manager of conditions, and the source of events. */
const component = 'service-cidr-controller';
/** How long after its deletion a range is still there (ms): until no allocator takes addresses from it. */
const graceMs = 10_000;

const finalizerOf = ({ domain }: Names): string => `networking.${domain}/service-cidr-finalizer`;

/** Keeps the Ready condition of ServiceCIDRs, and holds back their deletion while services have addresses of no other one. */
export const serviceCidrsController: Controller = {
  name: 'service-cidr-controller',
  needs: [kinds.serviceCidrs, kinds.ipAddresses],
  account: 'service-cidrs-controller',
  eventSource: component,
  start(context) {
    const { informers, names, queue } = context;
    const ranges = informers.of(kinds.serviceCidrs);
    const addresses = informers.of(kinds.ipAddresses);
    const work = queue('ipaddresses', async (name) => {
      const range = ranges.getByKey(name);
      if (range?.metadata.deletionTimestamp !== undefined) {
        return release(context, range, mayBeDeleted(range, ranges.list(), addresses, names));
      }
      if (range !== undefined) {
        await addFinalizer(context, range);
        await setReady(context, range);
      }
      return undefined;
    });
    ranges.onChange((range, old) => {
      const changed = range ?? old;
      if (changed !== undefined) work.add(changed.metadata.name ?? '');
      if (range === undefined || old !== undefined) return;
      // Its addresses no longer depend on the other one, nor those of the other one on it.
      for (const other of ranges.list()) if (overlap(other, range)) work.add(other.metadata.name ?? '');
    });
    addresses.onChange((address, old) => {
      if (address !== undefined && old !== undefined) return;
      const ip = ipOf(address ?? old, names);
      if (ip === undefined) return;
      for (const range of ranges.list()) {
        if (range.metadata.deletionTimestamp !== undefined && contains(range, ip)) work.add(range.metadata.name ?? '');
      }
    });
  },
};

async function addFinalizer({ client, names }: ControllerContext, range: Range): Promise<void> {
  const finalizer = finalizerOf(names);
  if (range.metadata.finalizers?.includes(finalizer)) return;
  await client.kind(kinds.serviceCidrs).patch(range.metadata, 'strategic', { metadata: { finalizers: [finalizer] } });
}

/** Lets a range go that is being deleted, when its time is over; or says why it cannot. */
async function release(
  context: ControllerContext,
  range: Range,
  allowed: boolean,
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const { client, clock, names } = context;
  if (!allowed) {
    const why =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';
    await setCondition(context, range, 'False', 'Terminating', why);
    return undefined;
  }
  const remainingMs = parseTime(range.metadata.deletionTimestamp ?? '') + graceMs - clock.now();
  if (remainingMs > 0) return { requeueAfterMs: remainingMs };
  const finalizer = finalizerOf(names);
  if (!range.metadata.finalizers?.includes(finalizer)) return undefined;
  const metadata = { '$deleteFromPrimitiveList/finalizers': [finalizer] };
  await client.kind(kinds.serviceCidrs).patch(range.metadata, 'strategic', { metadata });
  return undefined;
}

async function setReady(context: ControllerContext, range: Range): Promise<void> {
  const { events, names } = context;
  const product = names.product.charAt(0).toUpperCase() + names.product.slice(1);
  try {
    await setCondition(context, range, 'True', '', `${product} Service CIDR is ready`);
  } catch (error) {
    const { kind } = kinds.serviceCidrs;
    const subject = { ...range, apiVersion: apiVersionOf(kinds.serviceCidrs, names), kind };
    const reason = `${product}ServiceCIDRError`;
    events.record(subject, 'Warning', reason, 'The ServiceCIDR Status can not be set to Ready=True');
    throw error;
  }
}

async function setCondition(
  { client, clock }: ControllerContext,
  range: Range,
  status: string,
  reason: string,
  message: string,
): Promise<void> {
  const before = range.status?.conditions?.find(({ type }) => type === 'Ready');
  if (before?.status === status && (before.reason ?? '') === reason && before.message === message) return;
  const condition = { type: 'Ready', status, reason, message, lastTransitionTime: formatTime(clock.now()) };
  const { name = '' } = range.metadata;
  const configuration = { metadata: { name }, status: { conditions: [condition] } };
  await client
    .kind(kinds.serviceCidrs)
    .subresource('status')
    .apply(configuration, { fieldManager: component, force: true });
}

/** A block of addresses. */
interface Block {
  readonly base: IpNumber;
  readonly prefix: number;
}

const blocksOf = ({ spec }: Range): Block[] =>
  (spec?.cidrs ?? []).flatMap((text) => {
    const cidr = parseNetwork(text);
    const base = cidr && readIp(cidr.address);
    return base === undefined ? [] : [{ base, prefix: cidr?.prefix ?? 0 }];
  });

/** Whether addresses have the same first bits. */
const isSame = (a: IpNumber, b: IpNumber, bits: number): boolean =>
  a.size === b.size && a.bits >> BigInt(a.size - bits) === b.bits >> BigInt(a.size - bits);

const overlap = (a: Range, b: Range): boolean =>
  blocksOf(a).some((one) => blocksOf(b).some((two) => isSame(one.base, two.base, Math.min(one.prefix, two.prefix))));

const covers = (range: Range, { base, prefix }: Block): boolean =>
  blocksOf(range).some((block) => block.prefix <= prefix && isSame(block.base, base, block.prefix));

/** Whether services may get the address from the range: it is not the first of a block, nor for IPv4 the last. */
const contains = (range: Range, ip: IpNumber): boolean =>
  blocksOf(range).some(({ base, prefix }) => {
    const last = base.bits + (1n << BigInt(base.size - prefix)) - 1n;
    return isSame(base, ip, prefix) && ip.bits !== base.bits && (ip.size === 128 || ip.bits !== last);
  });

/** The address of a service; undefined for an address that others manage. */
function ipOf(address: Address | undefined, { domain, labels }: Names): IpNumber | undefined {
  const manager = address?.metadata.labels?.[`ipaddress.${labels}/managed-by`];
  return manager === `ipallocator.${domain}` ? readIp(address?.metadata.name ?? '') : undefined;
}

/** Every service would still have its addresses from another range. */
function mayBeDeleted(range: Range, all: readonly Range[], addresses: Informer<Address>, names: Names): boolean {
  const others = all.filter(({ metadata }) => metadata.name !== range.metadata.name);
  if (blocksOf(range).every((block) => others.some((other) => covers(other, block)))) return true;
  return !addresses.list().some((address) => {
    const ip = ipOf(address, names);
    return ip !== undefined && contains(range, ip) && !others.some((other) => contains(other, ip));
  });
}
