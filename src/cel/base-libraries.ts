/** The libraries of the expressions in API objects. */

import { cidrLibrary } from './library/cidr.ts';
import { formatLibrary } from './library/format.ts';
import { ipLibrary } from './library/ip.ts';
import { optionalsLibrary } from './library/optionals.ts';
import { quantityLibrary } from './library/quantity.ts';
import { standardLibrary } from './library/standard.ts';
import { urlLibrary } from './library/url.ts';
import type { Library } from './library.ts';

/** Of new expressions: what servers of the version before know too, so that such a server can take over again. */
export const newExpressionLibraries: readonly Library[] = [
  standardLibrary,
  optionalsLibrary,
  urlLibrary,
  quantityLibrary,
  ipLibrary,
  cidrLibrary,
  formatLibrary,
];

/** Of stored expressions, which are evaluated whatever version they were written for. */
export const storedExpressionLibraries: readonly Library[] = [...newExpressionLibraries];
