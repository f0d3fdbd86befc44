package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.zaxxer.hikari.HikariDataSource;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class JavadocSnippetsTest {
  // @start region="store"
  record Hit() implements Request<Hit, Long> {}

  static final Durable<Hit> HITS = Durable.kind("hits", Hit.class)
      .state(0L).handler((n, hit, context) -> {
        context.reply(hit, n + 1); // leaves when it is committed
        return n + 1;
      });

  static long hit(DataSource pool) {
    try (var store = JdbcStore.open(pool);
        var page = HITS.newActor(ActorSystem.named("home"), store)) {
      return page.ask(new Hit());
    }
  }
  // @end

  // @start region="pool"
  static HikariDataSource pool(String url) {
    var pool = new HikariDataSource();
    pool.setJdbcUrl(url);
    pool.setMaximumPoolSize(5); // one stores, four read
    return pool;
  }
  // @end

  @Test
  void hitCountContinuesWhenStoreIsReopened() {
    try (var pool = pool("jdbc:h2:mem:hits")) {
      assertEquals(1, hit(pool));
      assertEquals(2, hit(pool));
    }
  }
}
