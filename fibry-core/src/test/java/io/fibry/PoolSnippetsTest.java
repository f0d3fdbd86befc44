package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the Javadoc snippets of pools. */
class PoolSnippetsTest {
  record Order(String customer, int number) {}

  private static final class Connection implements AutoCloseable {
    int run(String sql) {
      return sql.length();
    }

    @Override
    public void close() {}
  }

  private static Connection connect() {
    return new Connection();
  }

  @Test
  void scalingPoolAndPoolByKeyAnswerRequests() {
    // @start region="pools"
    // rejects messages while 200 are queued
    var builder = ActorSystem.anonymous().mailbox(Mailbox.bounded(200, Overflow.REJECT));

    var database = Pools.scaling(builder, 2, 16)
        .initialState(() -> connect()) // one per worker
        .onStop(Connection::close)
        .newActorWithReturn((Connection connection, String sql) -> connection.run(sql));
    int rows = database.ask("delete from old");

    var invoices = Pools.byKey(builder, 4, Order::customer) // in order per customer
        .newActorWithReturn((Order order) -> "invoice " + order.number() + " for " + order.customer());
    var invoice = invoices.ask(new Order("Ada", 12));
    // @end

    assertEquals(List.of(15, "invoice 12 for Ada"), List.of(rows, invoice));
  }
}
