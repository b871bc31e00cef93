/** One element of DER (ITU-T X.690): its tag and its content. */
interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

const sequence = 0x30;
const set = 0x31;
const objectId = 0x06;
/** 2.5.4.10 */
const organization = '55040a';

/**
 * The organizations of the subject of a certificate request (RFC 2986) in PEM; undefined when it cannot be read. Its
 * signature is not looked at.
 */
export function requestedOrganizations(pem: string): readonly string[] | undefined {
  const block = /-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----/.exec(pem);
  if (block === null) return undefined;
  const [request] = elements(Buffer.from(block[1] ?? '', 'base64')) ?? [];
  const [info] = within(request, sequence) ?? [];
  const [, subject] = within(info, sequence) ?? [];
  const out: string[] = [];
  for (const relative of within(subject, sequence) ?? [undefined]) {
    for (const attribute of within(relative, set) ?? [undefined]) {
      const [type, value] = within(attribute, sequence) ?? [];
      if (type?.tag !== objectId || value === undefined) return undefined;
      if (type.content.toString('hex') === organization) out.push(textOf(value));
    }
  }
  return out;
}

const within = (element: Element | undefined, tag: number): Element[] | undefined =>
  element?.tag === tag ? elements(element.content) : undefined;

/** BMPString is in UTF-16, all the others are read as UTF-8. */
function textOf({ tag, content }: Element): string {
  return tag === 0x1e ? Buffer.from(content).swap16().toString('utf16le') : content.toString();
}

/** The elements that follow each other; undefined when they do not fill the bytes. */
function elements(bytes: Buffer): Element[] | undefined {
  const out: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1];
    if (first === undefined) return undefined;
    const sizeBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + sizeBytes;
    if (sizeBytes > 4 || start > bytes.length || (first >= 0x80 && sizeBytes === 0)) return undefined;
    const length = sizeBytes === 0 ? first : bytes.readUIntBE(at + 2, sizeBytes);
    if (start + length > bytes.length) return undefined;
    out.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return out;
}
