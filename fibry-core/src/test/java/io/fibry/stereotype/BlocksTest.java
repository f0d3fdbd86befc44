package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that each recipe creates its block, which runs code with the strategy of the builder. */
class BlocksTest {
  private final ActorScope scope = ActorSystem.openScope("blocks");
  private final Stereotypes recipes = Stereotypes.of(scope.anonymous().strategy(Strategy.THREAD));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private static boolean isOnThread() {
    return !Thread.currentThread().isVirtual();
  }

  @Test
  void poolsUseStrategyOfBuilder() {
    assertTrue(recipes.poolPerMessage().newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.pool(2).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.scalingPool(0, 2).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.weightedPool(9, String::length).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(recipes.poolByKey(2, String::length).newActorWithReturn((String m) -> isOnThread()).ask("?"));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(5, scope.report().handled());
  }

  @Test
  void topicUsesStrategyOfBuilder() {
    var topic = recipes.<String>topic();
    topic.subscribeToLatest(news -> received.add(news + isOnThread()));

    topic.publish("rain ");
    topic.close();

    assertEquals(List.of("rain true"), received);
  }

  @Test
  void observableValuesUseStrategyOfBuilder() {
    var level = recipes.observableValue(1);
    var levels = recipes.<String, Integer>observableMap();
    level.subscribe(value -> received.add(value + " " + isOnThread()));
    levels.subscribe("a", value -> value.ifPresent(present -> received.add(present + " " + isOnThread())));

    level.set(2);
    levels.put("a", 3);

    Patience.eventually(() -> received.containsAll(List.of("2 true", "3 true")));
  }

  @Test
  void generatorUsesStrategyOfBuilder() {
    var squares =
        recipes.<String>generator(2, out -> IntStream.range(0, 3).forEach(n -> out.yield(n * n + " " + isOnThread())));

    assertEquals(List.of("0 true", "1 true", "4 true"), squares.stream().toList());
  }

  @Test
  void pipelineUsesStrategyOfBuilder() {
    var pipeline = recipes.pipeline((String line) -> line.trim()).then(2, line -> line + isOnThread())
        .into(received::add);

    pipeline.sendMessage(" a ");
    pipeline.close();

    assertEquals(List.of("atrue"), received);
  }

  @Test
  void mapReduceUsesStrategyOfBuilder() {
    var sum = recipes.mapReduce(2, List.of("a", "bc"), text -> isOnThread() ? text.length() : 0, 0, Integer::sum);

    assertEquals(3, Patience.value(sum));
  }

  @Test
  void builderOfPoolRecipeKeepsStrategy() {
    assertSame(Strategy.THREAD, BlockBuilder.of(recipes.pool(2)).strategy());
  }
}
