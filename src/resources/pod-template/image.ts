const COMPONENT = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const DOMAIN =
  /^(?:[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*(?:\.[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const MAX_NAME = 255;

/**
 * The tag of an image reference: `latest` when it has neither a tag nor a digest, '' when it has only a digest or is
 * not a valid reference.
 */
export function imageTag(image: string): string {
  if (image.length > 4096 || /^[a-f0-9]{64}$/.test(image)) return '';
  const at = image.indexOf('@');
  const digest = at < 0 ? undefined : image.slice(at + 1);
  const reference = at < 0 ? image : image.slice(0, at);
  const colon = reference.lastIndexOf(':');
  const tagged = colon > reference.lastIndexOf('/');
  const tag = tagged ? reference.slice(colon + 1) : undefined;
  const name = tagged ? reference.slice(0, colon) : reference;
  if (!isImageName(name) || (tag !== undefined && !TAG.test(tag))) return '';
  if (digest !== undefined && !DIGEST.test(digest)) return '';
  return tag ?? (digest === undefined ? 'latest' : '');
}

/**
 * Whether a text is a repository name: lower-case path components, after a host when the first component can only be
 * one.
 */
function isImageName(name: string): boolean {
  const [first = '', ...rest] = name.split('/');
  const isHost = rest.length > 0 && (/[.:[]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  if (isHost && !DOMAIN.test(first)) return false;
  const path = isHost ? rest : [first, ...rest];
  return path.join('/').length <= MAX_NAME && path.every((component) => COMPONENT.test(component));
}

/** The default of `imagePullPolicy`: `Always` for the tag `latest`, else `IfNotPresent`. */
export const defaultPullPolicy = (image: string | undefined): 'Always' | 'IfNotPresent' =>
  imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
