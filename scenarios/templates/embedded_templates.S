/* The templates as bytes of the program: one file to copy. */
.macro embed name, file
  .global slicewise_template_\name\()_begin
  .global slicewise_template_\name\()_end
slicewise_template_\name\()_begin:
  .incbin "\file"
slicewise_template_\name\()_end:
  .byte 0
.endm

  .section .rodata
  embed batch_jobs, "batch-jobs.yaml"
  embed online_services, "online-services.yaml"
  embed mig_tenants, "mig-tenants.yaml"
  embed notebooks, "notebooks.yaml"
  embed mixed_cluster, "mixed-cluster.yaml"

  .section .note.GNU-stack, "", %progbits
