/** Path validation of client certificates (RFC 5280, 6.1) against a set of trusted certificates. */
import { X509Certificate } from 'node:crypto';
import { type CertificateDetails, certificateDetails } from './extensions.ts';
import { pemBlocks } from './pem.ts';

/** The validity of a certificate together with all certificates of its path (ms since 1970, both inclusive). */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

interface Candidate {
  readonly certificate: X509Certificate;
  readonly details: CertificateDetails;
  readonly validity: Validity;
  readonly trusted: boolean;
}

/** Signature algorithms with SHA-256 or better: ECDSA, RSA, RSASSA-PSS and Ed25519, in hex. */
const accepted = new Set([
  '2a8648ce3d040302',
  '2a8648ce3d040303',
  '2a8648ce3d040304',
  '2a864886f70d01010a',
  '2a864886f70d01010b',
  '2a864886f70d01010c',
  '2a864886f70d01010d',
  '2b6570',
]);

/** Limits of the work a client can cause: certificates of a chain, and verified signatures. */
const maxChain = 10;
const maxSignatures = 40;
/** Maximum size (bits) and exponent of RSA keys: larger exponents make the check of a signature slow. */
const [leastBits, mostBits] = [1_024, 8_192];
const maxExponent = 2n ** 31n - 1n;

/** Certificates that may sign client certificates. Each is trusted itself, whoever has signed it. */
export class TrustPool {
  readonly #roots: readonly Candidate[];

  /** Reads the certificates of a PEM text and skips those that cannot be parsed. */
  constructor(pem: string) {
    this.#roots = pemBlocks(pem)
      .filter(({ type }) => type === 'CERTIFICATE')
      .flatMap(({ bytes }) => {
        try {
          return candidate(new X509Certificate(bytes), true) ?? [];
        } catch {
          return [];
        }
      });
  }

  /**
   * Returns the validity of the first certificate of `chain` for client authentication, one for each path to a certificate
   * of the pool; empty when there is no path. The other certificates of the chain may be in any order.
   */
  validate(chain: readonly X509Certificate[]): readonly Validity[] {
    const [leaf, ...others] = chain.slice(0, maxChain).map((certificate) => candidate(certificate, false));
    if (leaf === undefined || !usable(leaf)) return [];
    if (this.#has(leaf)) return [leaf.validity];
    const issuers = [
      ...this.#roots,
      ...others.flatMap((other) => (other === undefined || this.#has(other) ? [] : other)),
    ];
    const found: Validity[] = [];
    let signatures = 0;
    const extend = (path: readonly Candidate[], validity: Validity) => {
      const last = path.at(-1) as Candidate;
      for (const issuer of issuers) {
        if (path.includes(issuer) || !mayIssue(issuer, path) || !last.certificate.checkIssued(issuer.certificate))
          continue;
        if (++signatures > maxSignatures) return;
        if (!signed(last, issuer)) continue;
        const both = overlap(validity, issuer.validity);
        if (issuer.trusted) found.push(both);
        else if (path.length < maxChain) extend([...path, issuer], both);
      }
    };
    extend([leaf], leaf.validity);
    return found;
  }

  #has({ certificate: { raw } }: Candidate): boolean {
    return this.#roots.some(({ certificate }) => certificate.raw.equals(raw));
  }
}

function candidate(certificate: X509Certificate, trusted: boolean): Candidate | undefined {
  const details = certificateDetails(certificate);
  const validity = { from: Date.parse(certificate.validFrom), until: Date.parse(certificate.validTo) };
  return details === undefined ? undefined : { certificate, details, validity, trusted };
}

const usable = ({ details }: Candidate): boolean => details.clientAuth && !details.unhandled;

/** Whether an authority may extend a path, which starts with the client's certificate. */
function mayIssue(issuer: Candidate, path: readonly Candidate[]): boolean {
  const between = path.slice(1).filter(({ certificate }) => certificate.subject !== certificate.issuer).length;
  return issuer.certificate.ca && usable(issuer) && between <= issuer.details.pathLength;
}

function signed({ certificate, details }: Candidate, issuer: Candidate): boolean {
  if (!accepted.has(details.signatureAlgorithm)) return false;
  try {
    const { publicKey } = issuer.certificate;
    const { modulusLength: bits = leastBits, publicExponent = 1n } = publicKey.asymmetricKeyDetails ?? {};
    return bits >= leastBits && bits <= mostBits && publicExponent <= maxExponent && certificate.verify(publicKey);
  } catch {
    return false;
  }
}

const overlap = (a: Validity, b: Validity): Validity => ({
  from: Math.max(a.from, b.from),
  until: Math.min(a.until, b.until),
});
