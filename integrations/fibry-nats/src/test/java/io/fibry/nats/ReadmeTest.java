package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.durable.Durable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Runs the code of the README. */
class ReadmeTest {
  // @start
  record Visit() implements Request<Visit, Long> {}

  static final Durable<Visit> PAGE = Durable.kind("page", Visit.class)
      .state(0L).handler((visits, visit, context) -> {
        context.reply(visit, visits + 1);
        return visits + 1;
      });

  static long visit(String servers) {
    var network = NatsNetwork.connectTo(servers);              // "nats://n1:4222,nats://n2:4222"
    try (var node = Cluster.join("site", network, options -> options.withNode("n1"));
        var pages = node.host(PAGE, ActorSystem.anonymous(), Duration.ofMinutes(5))) {
      return pages.actor("index").ask(new Visit());     // wherever it lives
    }
  }
  // @end

  @Test
  void readmeCodeRuns() {
    assertEquals(1, visit(Servers.shared().url()));
  }

  @Test
  void readmeShowsCodeOfThisTest() throws IOException {
    var shownCode = findAll("(?ms)^```java\n(.*?)^```$", "README.md");
    var ownCode = findAll("(?s)  // @start\n(.*?)  // @end", "src/test/java/io/fibry/nats/ReadmeTest.java");

    assertEquals(shownCode, ownCode.stream().limit(1).map(code -> code.replaceAll("(?m)^  ", "")).toList());
  }

  private static List<String> findAll(String pattern, String file) throws IOException {
    return Pattern.compile(pattern).matcher(Files.readString(Path.of(file))).results().map(match -> match.group(1))
        .toList();
  }
}
