package io.fibry.test;

import io.fibry.ActorScope;
import io.fibry.time.ManualScheduler;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each JUnit test a scope with a clock, and closes the scope afterwards. Immutable and
 * thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="extension"}
 *
 * <p>Tests, {@code @BeforeEach} and {@code @AfterEach} methods may have parameters of type
 * {@link TestScope}, {@link ActorScope} (the same object) and {@link ManualScheduler} (its clock).
 *
 * <p>After the test, actors handle their waiting messages. An actor that must be interrupted is a
 * leak, and fails the test with a text that says what each actor was doing.
 */
public final class FibryExtension implements ParameterResolver, AfterEachCallback {
  private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(FibryExtension.class);

  private final UnaryOperator<ActorScope.Options> options;
  private final boolean refusesDeadLetters;

  /** For {@code @ExtendWith}: actors run on virtual threads, and dead letters are allowed. */
  public FibryExtension() {
    this(options -> options, false);
  }

  private FibryExtension(UnaryOperator<ActorScope.Options> options, boolean refusesDeadLetters) {
    this.options = options;
    this.refusesDeadLetters = refusesDeadLetters;
  }

  /**
   * Returns an extension whose scopes have these options, for {@code @RegisterExtension}.
   *
   * @param options changes the options of a test's scope; the clock stays manual
   * @return a changed copy
   */
  public FibryExtension withOptions(UnaryOperator<ActorScope.Options> options) {
    return new FibryExtension(Objects.requireNonNull(options, "options"), refusesDeadLetters);
  }

  /**
   * Returns an extension, for {@code @RegisterExtension}, that fails each test that leaves a dead
   * letter which {@link TestScope#assertDeadLetter} did not find.
   *
   * @return a changed copy
   */
  public FibryExtension withoutDeadLetters() {
    return new FibryExtension(options, true);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    var type = parameter.getParameter().getType();
    return type == TestScope.class || type == ActorScope.class || type == ManualScheduler.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    var scope = scope(test);
    return parameter.getParameter().getType() == ManualScheduler.class ? scope.clock() : scope;
  }

  private TestScope scope(ExtensionContext test) {
    if (test.getTestMethod().isEmpty()) throw new ParameterResolutionException(
        "a scope belongs to one test: declare the parameter in the test, @BeforeEach or @AfterEach, not in a "
            + "constructor, @BeforeAll or @AfterAll");
    var store = test.getStore(NAMESPACE);
    var existing = store.get(TestScope.class, TestScope.class);
    if (existing != null) return existing;
    var scope = TestScope.open(test.getDisplayName(), options);
    store.put(TestScope.class, scope);
    return scope;
  }

  @Override
  public void afterEach(ExtensionContext test) {
    var scope = test.getStore(NAMESPACE).remove(TestScope.class, TestScope.class);
    if (scope == null) return;
    scope.close();
    if (refusesDeadLetters && test.getExecutionException().isEmpty()) scope.assertNoDeadLetters();
  }
}
