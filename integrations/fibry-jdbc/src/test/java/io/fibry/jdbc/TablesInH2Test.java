package io.fibry.jdbc;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.turn;

import org.junit.jupiter.api.Test;

class TablesInH2Test extends TablesContract {
  TablesInH2Test() {
    super(DatabaseFixture::h2);
  }

  /** H2 commits each statement that makes a table. */
  @Test
  void creationThatWasCancelledIsCompletedByTheNextOpening() throws Exception {
    var schema = H2Dialect.DIALECT.schema();
    for (int done = 0; done < schema.size(); done++) {
      for (int i = 0; i < done; i++) execute(schema.get(i));
      var store = open();
      append(store, turn(ADA, store.load(ADA).life(), 1));
      store.close();
      execute("drop all objects");
    }
  }
}
