# Compiler options of all our targets. Contraction off and no fast-math: same bits everywhere.
add_library(rb_options INTERFACE)
target_compile_options(rb_options INTERFACE
  -ffp-contract=off -fno-math-errno
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum -Wvla -Wundef
  -Wstrict-prototypes -Wmissing-prototypes)
if(RB_WERROR)
  target_compile_options(rb_options INTERFACE -Werror)
endif()
target_compile_definitions(rb_options INTERFACE
  $<$<CONFIG:Debug>:RB_ENABLE_ASSERT RB_ENABLE_VALIDATE>
  $<$<CONFIG:RelWithDebInfo>:RB_ENABLE_ASSERT>)
if(RB_SANITIZE)
  target_compile_options(rb_options INTERFACE -fsanitize=${RB_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(rb_options INTERFACE -fsanitize=${RB_SANITIZE})
endif()
