/** The parts of a certificate that path validation needs and `X509Certificate` lacks (RFC 5280, 4.1 and 4.2). */
import type { X509Certificate } from 'node:crypto';
import { type DerElement, derChildren, derTag, readDer } from './der.ts';

export interface CertificateDetails {
  /** The object identifier of the signature algorithm, in hex. */
  readonly signatureAlgorithm: string;
  /** Maximum number of authorities between this one and the client's certificate; Infinity without a limit. */
  readonly pathLength: number;
  /** Whether the certificate may be used for client authentication. */
  readonly clientAuth: boolean;
  /** Whether it has a restricting extension that is not evaluated here: critical and unknown, or name constraints. */
  readonly unhandled: boolean;
}

// Object identifiers in hex.
const basicConstraints = '551d13';
const nameConstraints = '551d1e';
const extendedKeyUsage = '551d25';
/** Key usage is evaluated by `X509Certificate`; alternative names and identifiers of keys restrict nothing here. */
const evaluated = new Set([basicConstraints, extendedKeyUsage, '551d0e', '551d0f', '551d11', '551d20', '551d23']);
const clientUsages = new Set(['2b06010505070302', '551d2500']);

const extensionsTag = 0xa3;
const booleanTag = 0x01;

/**
 * Undefined when the structure is not that of a certificate in DER. OpenSSL also accepts other encodings, in which this
 * code would miss extensions and their restrictions.
 */
export function certificateDetails({ raw }: X509Certificate): CertificateDetails | undefined {
  try {
    return detailsOf(raw);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

class DerError extends Error {}

function detailsOf(raw: Buffer): CertificateDetails {
  const inside = (element: DerElement | undefined): DerElement[] => {
    const children = element && derChildren(raw, element);
    if (children === undefined) throw new DerError();
    return children;
  };
  const contentOf = ({ body, end }: DerElement): DerElement => {
    const content = readDer(raw, body);
    if (content?.end !== end) throw new DerError();
    return content;
  };
  const [body, algorithm] = inside(readDer(raw, 0));
  const [identifier] = inside(algorithm);
  if (identifier?.tag !== derTag.objectId) throw new DerError();
  const details = {
    signatureAlgorithm: raw.toString('hex', identifier.body, identifier.end),
    pathLength: Number.POSITIVE_INFINITY,
    clientAuth: true,
    unhandled: false,
  };
  const extensions = inside(body).find(({ tag }) => tag === extensionsTag);
  for (const extension of extensions === undefined ? [] : inside(contentOf(extensions))) {
    const [type, ...rest] = inside(extension);
    const value = rest.at(-1);
    if (type === undefined || value === undefined) throw new DerError();
    const id = raw.toString('hex', type.body, type.end);
    const critical = rest[0]?.tag === booleanTag && raw[rest[0].body] !== 0;
    if (id === basicConstraints) {
      const length = inside(contentOf(value)).find(({ tag }) => tag === derTag.integer);
      // No path needs more than one byte.
      if (length !== undefined && length.end - length.body === 1) details.pathLength = raw.readInt8(length.body);
    } else if (id === extendedKeyUsage) {
      details.clientAuth = inside(contentOf(value)).some((usage) =>
        clientUsages.has(raw.toString('hex', usage.body, usage.end)),
      );
    } else if (id === nameConstraints || (critical && !evaluated.has(id))) details.unhandled = true;
  }
  return details;
}
