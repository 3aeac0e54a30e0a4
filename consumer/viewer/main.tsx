// The page begins here.
import { render } from 'preact';

render(<p>preview</p>, document.getElementById('page')!);
