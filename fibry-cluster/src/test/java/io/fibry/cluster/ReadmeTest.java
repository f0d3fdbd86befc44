package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the code in the README runs. */
class ReadmeTest {
  // @start
  sealed interface Till {}
  record Pay(long cents) implements Till {}
  record Sum() implements Till, Request<Sum, Long> {}

  static long takings() {
    var network = MemoryNetwork.create();
    try (var shop = Cluster.join("shop", network, options -> options.withNode("till-1"));
        var office = Cluster.join("shop", network, options -> options.withNode("office"));
        var till = ActorSystem.anonymous().initialState(LongAdder::new)
            .newActor((LongAdder cents, Till message, ActorContext<Till> context) -> {
              switch (message) {
                case Pay pay -> cents.add(pay.cents());
                case Sum sum -> context.reply(sum, cents.sum());
              }
            })) {
      shop.expose("till", Till.class, till);             // all nodes may send to it

      var remoteTill = office.actor("till", Till.class); // an Actor<Till> like any other
      remoteTill.sendMessage(new Pay(500));
      return remoteTill.ask(new Sum());
    }
  }
  // @end

  // @start
  record Visit() implements Request<Visit, Long> {}

  static final Durable<Visit> PAGE = Durable.kind("page", Visit.class)
      .state(0L).handler((visits, visit, context) -> {
        context.reply(visit, visits + 1);
        return visits + 1;
      });

  static long visits(ClusterNetwork network) {
    try (var web = Cluster.join("site", network, options -> options.withNode("web"));
        var home = Cluster.join("site", network, options -> options.withNode("home-1"))) {
      home.host(PAGE, ActorSystem.anonymous(), Duration.ofMinutes(5)); // on each node that hosts pages

      var pages = web.entities(PAGE);                   // addresses of pages, on whichever node a page is
      pages.actor("index").ask(new Visit());
      return pages.actor("index").ask(new Visit());
    }
  }
  // @end

  // @start
  record Parcel(String to) {}

  static String pack(ClusterNetwork network) throws InterruptedException {
    try (var web = Cluster.join("depot", network, options -> options.withNode("web"));
        var depot = Cluster.join("depot", network, options -> options.withNode("depot-1"))) {
      var packed = new SynchronousQueue<String>();
      depot.queue("parcels", Parcel.class)
          .consume(4, parcel -> packed.put(parcel.to()));  // four at once, on each node that works

      web.queue("parcels", Parcel.class).put(new Parcel("Ada")); // returns when it is stored
      return packed.take();
    }
  }
  // @end

  @Test
  void readmeCodeRuns() throws InterruptedException {
    assertEquals(500, takings());
    var network = TestNetwork.inMemory();
    assertEquals(2, visits(network));
    assertEquals(4, visits(network));
    assertEquals("Ada", pack(network));
  }

  @Test
  void readmeShowsCodeOfThisTest() throws IOException {
    var readmeCode = findCode("(?ms)^```java\n(.*?)^```$", "README.md");
    var testCode = findCode("(?s)  // @start\n(.*?)  // @end", "src/test/java/io/fibry/cluster/ReadmeTest.java");

    assertEquals(readmeCode, testCode.stream().limit(3).map(code -> code.replaceAll("(?m)^  ", "")).toList());
  }

  private static List<String> findCode(String pattern, String file) throws IOException {
    return Pattern.compile(pattern).matcher(Files.readString(Path.of(file))).results().map(match -> match.group(1))
        .toList();
  }
}
