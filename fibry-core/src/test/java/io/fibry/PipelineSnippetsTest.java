package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.flow.Pipeline;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class PipelineSnippetsTest {
  private final List<String> stored = new CopyOnWriteArrayList<>();

  @Test
  void pipelineKeepsOrderOfParallelStage() {
    // @start region="pipeline"
    var orders = Pipeline.of(ActorSystem.named("orders"), (String line) -> line.split(";"))
        // runs four at once, and keeps the order
        .then(4, fields -> new StringBuilder(fields[1]).reverse().toString())
        .into(stored::add);

    List.of("1;one", "2;two", "3;three").forEach(orders::sendMessage);
    orders.close(); // waits for all orders
    // @end

    assertEquals(List.of("eno", "owt", "eerht"), stored);
  }
}
