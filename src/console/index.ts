/** The console: the page in which people look at a cluster, and change it, with their own rights. */
import { startPage } from './page.tsx';

const place = document.getElementById('page');
if (place !== null) startPage(place);
