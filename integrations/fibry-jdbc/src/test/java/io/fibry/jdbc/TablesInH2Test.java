package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.turn;

import org.junit.jupiter.api.Test;

class TablesInH2Test extends TablesContract {
  TablesInH2Test() {
    super(DatabaseFixture::h2);
  }

  /** H2 commits each statement that creates a table, so a cancelled creation leaves some tables. */
  @Test
  void nextOpeningCompletesCancelledCreationOfTables() throws Exception {
    var schema = H2Dialect.DIALECT.schema();
    for (int tables = 0; tables < schema.size(); tables++) {
      for (int i = 0; i < tables; i++) execute(schema.get(i));
      var store = open();
      append(store, turn(ADA, store.load(ADA).life(), 1));
      store.close();
      execute("drop all objects");
    }
  }
}
