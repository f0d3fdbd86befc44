package io.fibry.bench.others;

import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityOptions;
import io.temporal.client.WorkflowOptions;
import io.temporal.testing.TestWorkflowEnvironment;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;

/** The program for Temporal that docs/coming-from.md shows. */
class Shipping {
  @WorkflowInterface
  public interface Order {
    @WorkflowMethod
    String place(String item, long cents);
  }

  public static class OrderWorkflow implements Order {
    private final Services services = Workflow.newActivityStub(Services.class,
        ActivityOptions.newBuilder().setStartToCloseTimeout(Duration.ofMinutes(1)).build());

    @Override
    public String place(String item, long cents) {
      String receipt = services.charge(cents);
      Workflow.sleep(Duration.ofHours(1));
      return services.ship(item, receipt);
    }
  }

  @ActivityInterface
  public interface Services {
    String charge(long cents);

    String ship(String item, String receipt);
  }

  public static class SampleServices implements Services {
    @Override
    public String charge(long cents) {
      return "receipt 7";
    }

    @Override
    public String ship(String item, String receipt) {
      return item + " for " + receipt;
    }
  }

  public static void main(String[] args) {
    try (var environment = TestWorkflowEnvironment.newInstance()) { // in production, Temporal's server runs apart
      var worker = environment.newWorker("orders");
      worker.registerWorkflowImplementationTypes(OrderWorkflow.class);
      worker.registerActivitiesImplementations(new SampleServices());
      environment.start();
      var order = environment.getWorkflowClient().newWorkflowStub(Order.class,
          WorkflowOptions.newBuilder().setTaskQueue("orders").setWorkflowId("o1").build());
      System.out.println(order.place("book", 1_500)); // prints book for receipt 7
    }
  }
}
