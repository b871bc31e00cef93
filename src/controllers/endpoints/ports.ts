/** A port of endpoints. */
export interface Port {
  name?: string | null;
  port?: number | null;
  protocol?: string | null;
  appProtocol?: string | null;
}

/** The same for equal ports. */
const portKey = ({ name, port, protocol, appProtocol }: Port): string =>
  JSON.stringify([name ?? '', port ?? null, protocol ?? '', appProtocol ?? null]);

/** The same for equal sets of ports, in whichever order. */
export const portsKey = (ports: readonly Port[] | null | undefined): string =>
  ports?.length === 1 && ports[0] !== undefined ? portKey(ports[0]) : (ports ?? []).map(portKey).sort().join();

const optional = (value: string | null | undefined): string => (value == null ? '(*string)<nil>' : `(*string)${value}`);

/** The texts whose hashes order the ports. */
const dumps = {
  Endpoints: ({ name, port, protocol, appProtocol }: Port) =>
    `(v1.EndpointPort){Name:(string)${name ?? ''} Port:(int32)${port} Protocol:(v1.Protocol)${protocol ?? ''} AppProtocol:${optional(appProtocol)}}`,
  EndpointSlice: ({ name, port, protocol, appProtocol }: Port) =>
    `(v1.EndpointPort){Name:${optional(name ?? '')} Protocol:(*v1.Protocol)${protocol ?? ''} Port:(*int32)${port} AppProtocol:${optional(appProtocol)}}`,
};

/** The ports in the order that clients know: by the FNV-1a hash (128 bits) of their fields. */
export function orderedPorts<P extends Port>(ports: readonly P[], kind: keyof typeof dumps): P[] {
  if (ports.length < 2) return [...ports];
  return ports
    .map((port) => ({ port, hash: fnv(dumps[kind](port)) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : Number(a.hash > b.hash)))
    .map(({ port }) => port);
}

const offset = 0x6c62272e07bb014262b821756295c58dn;
const prime = 0x1000000000000000000013bn;

function fnv(text: string): bigint {
  let hash = offset;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * prime);
  return hash;
}
