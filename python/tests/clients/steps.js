// Runs the steps of a client's script and reports each on a line: `ok NAME` or `FAIL NAME: ERROR`.

let failures = 0;

/** Runs a step; an error is reported, and the script goes on. */
exports.step = async (name, run) => {
  try {
    await run();
    console.log('ok', name);
  } catch (error) {
    failures += 1;
    console.log(`FAIL ${name}: ${error.code ?? ''} ${error.message}`);
  }
};

/** The exit code of the script: 1 if a step failed. */
exports.failed = () => (failures === 0 ? 0 : 1);
